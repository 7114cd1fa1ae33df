"""Virtual operations of prediction markets: actions of the chain on bets, pools and oracles (spec 07, 6)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.codec.types.numbers import Int8, Int16, UInt8, UInt16, UInt32
from ledgerd.protocol.operations.base import VirtualOperation
from ledgerd.protocol.operations.roles import (
    BetId,
    CommitId,
    MarketId,
    Meaning,
    PaidRecipient,
    Payee,
    Percent,
    PositionId,
    Recipient,
    Role,
    Touched,
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.names import AccountName


class PmBatchSettle(VirtualOperation, frozen=True, tag=84):
    """The bets that a market had gathered in an epoch were carried out."""

    EN = words("Batch of bets", "Market {market_id} carried out {settled_bets} bets of a batch")
    RU = words("Пакет ставок", "На рынке {market_id} исполнен пакет ставок: {settled_bets}")

    market_id: MarketId
    epoch: UInt32
    settled_bets: UInt32


class PmCommitForfeit(VirtualOperation, frozen=True, tag=85):
    """A hidden bet was not shown in time: a part of its tokens is gone."""

    EN = words(
        "Hidden bet lost",
        "A hidden bet of {account} on market {market_id} was not revealed: {penalty} lost, {refund} returned",
    )
    RU = words(
        "Ставка не раскрыта",
        "Скрытая ставка {account} на рынке {market_id} не раскрыта: {penalty} потеряно, {refund} возвращено",
    )

    account: Payee
    commit_id: CommitId
    market_id: MarketId
    penalty: Asset
    refund: Annotated[Asset, Meaning.PAID]


class PmAutoPayout(VirtualOperation, frozen=True, tag=86):
    """A market is settled. The account is the oracle, the payout all that was bet; nothing is paid by it."""

    EN = words("Market settled", "Market {market_id} of the oracle {account} was settled: {payout} had been bet")
    RU = words("Рынок рассчитан", "Рынок {market_id} оракула {account} рассчитан: всего ставок {payout}")

    account: Recipient
    market_id: MarketId
    bet_id: BetId
    payout: Asset


class PmDisputeFinalize(VirtualOperation, frozen=True, tag=87):
    """The votes on a dispute were counted."""

    EN = words(
        "Dispute decided",
        "The votes on the dispute of market {market_id} were counted: outcome "
        "{winning_outcome}; the oracle {oracle} lost {oracle_penalty}",
        no_winning_outcome="The votes on the dispute of market {market_id} were counted: no "
        "contest; the oracle {oracle} lost {oracle_penalty}",
    )
    RU = words(
        "Спор решён",
        "Голоса в споре по рынку {market_id} подсчитаны: исход "
        "{winning_outcome}; оракул {oracle} теряет {oracle_penalty}",
        no_winning_outcome="Голоса в споре по рынку {market_id} подсчитаны: рынок не состоялся; "
        "оракул {oracle} теряет {oracle_penalty}",
    )

    oracle: Touched
    market_id: MarketId
    winning_outcome: Annotated[Int16, missing(-1)]
    oracle_penalty: Asset


class PmDisputeAutoClose(VirtualOperation, frozen=True, tag=88):
    """A dispute that nobody decided in time was closed."""

    EN = words(
        "Dispute closed",
        "The dispute of market {market_id} was closed without a decision; the oracle {oracle} lost {oracle_penalty}",
    )
    RU = words("Спор закрыт", "Спор по рынку {market_id} закрыт без решения; оракул {oracle} теряет {oracle_penalty}")

    oracle: Touched
    market_id: MarketId
    oracle_penalty: Asset


class PmOracleMissedPenalty(VirtualOperation, frozen=True, tag=89):
    """An oracle that did not say in time how a market ended lost a part of its insurance."""

    EN = words(
        "Oracle's penalty",
        "The oracle {oracle} missed the result of market {market_id} and lost {slashed} of its insurance",
    )
    RU = words("Штраф оракула", "Оракул {oracle} не объявил итог рынка {market_id} и теряет {slashed} страховки")

    oracle: Touched
    market_id: MarketId
    slashed: Asset


class PmLazyRecall(VirtualOperation, frozen=True, tag=90):
    """The lazy pool took tokens out of a market."""

    EN = words("Pool recall", "The lazy pool took {recalled} out of market {market_id}")
    RU = words("Отзыв средств пула", "Ленивый пул забирает {recalled} из рынка {market_id}")

    market_id: MarketId
    recalled: Asset


class PmLeverageLiquidate(VirtualOperation, frozen=True, tag=94):
    """A position with a loan was closed before its market ended; the reason is a number (spec 07, section 6)."""

    EN = words(
        "Liquidation",
        "Leveraged position {position_id} of {account} on market {market_id} was "
        "liquidated: {pool_received} to the pool, {bettor_received} back",
    )
    RU = words(
        "Ликвидация",
        "Позиция с плечом {position_id} аккаунта {account} на рынке {market_id} "
        "ликвидирована: {pool_received} пулу, {bettor_received} возвращено",
    )

    account: Payee
    position_id: PositionId
    market_id: MarketId
    cancel_value: Asset
    pool_received: Asset
    bettor_received: Annotated[Asset, Meaning.PAID]
    reason: UInt8


class PmLeverageResolve(VirtualOperation, frozen=True, tag=95):
    """A position with a loan was closed as its market was settled."""

    EN = words(
        "Leverage settled",
        "Leveraged position {position_id} of {account} on market {market_id} was settled: {bettor_received} paid",
    )
    RU = words(
        "Расчёт плеча",
        "Позиция с плечом {position_id} аккаунта {account} на рынке {market_id} "
        "рассчитана: выплачено {bettor_received}",
    )

    account: Payee
    position_id: PositionId
    market_id: MarketId
    won: bool
    pool_received: Asset
    bettor_received: Annotated[Asset, Meaning.PAID]
    outcome_index: Int16
    leverage: UInt16


class PmMarketAccepted(VirtualOperation, frozen=True, tag=96):
    """An oracle took a market on, so that it is open for bets."""

    EN = words("Market accepted", "The oracle {oracle} accepted market {market_id} of {creator}")
    RU = words("Рынок принят", "Оракул {oracle} принимает рынок {market_id} от {creator}")

    oracle: Annotated[AccountName, Role.ACTOR]
    creator: Touched
    market_id: MarketId
    oracle_fee_percent: Percent
    oracle_fixed_fee: Asset
    self_oracle: bool


class PmPayout(VirtualOperation, frozen=True, tag=97):
    """What a bet brought when its market was settled: nothing, if it lost."""

    EN = words(
        "Bet settled",
        "{account} won {payout} with a bet of {amount} on market {market_id}",
        no_payout="{account} lost a bet of {amount} on market {market_id}",
    )
    RU = words(
        "Расчёт ставки",
        "{account} выигрывает {payout} ставкой {amount} на рынке {market_id}",
        no_payout="{account} проигрывает ставку {amount} на рынке {market_id}",
    )

    account: PaidRecipient
    market_id: MarketId
    bet_id: BetId
    side: Annotated[Int8, missing(-1)]
    outcome_index: Annotated[Int16, missing(-1)]
    amount: Asset
    payout: Annotated[Asset, Meaning.AMOUNT]


class PmBanExpired(VirtualOperation, frozen=True, tag=100):
    """A ban of an oracle, or of a creator, is over."""

    EN = words("Ban over", "A market ban of {account} is over")
    RU = words("Запрет снят по сроку", "Запрет на рынки для {account} закончился")

    account: Touched
    oracle: bool
    creator: bool


class PmMarketExpired(VirtualOperation, frozen=True, tag=101):
    """A market that its oracle did not take on in time was closed."""

    EN = words(
        "Market expired", "Market {market_id} of {creator} was closed: the oracle {oracle} did not answer in time"
    )
    RU = words("Рынок не принят", "Рынок {market_id} от {creator} закрыт: оракул {oracle} не ответил вовремя")

    oracle: Touched
    creator: Touched
    market_id: MarketId
    refunded_liquidity: Asset


class PmDisputeOpened(VirtualOperation, frozen=True, tag=102):
    """A dispute began."""

    EN = words("Dispute opened", "{disputer} opened a dispute of market {market_id} against the oracle {oracle}")
    RU = words("Спор открыт", "{disputer} открывает спор по рынку {market_id} против оракула {oracle}")

    oracle: Touched
    disputer: Annotated[AccountName, Role.ACTOR]
    market_id: MarketId
    proposed_outcome: Annotated[Int16, missing(-1)]


class PmEarlyExitClaimPaid(VirtualOperation, frozen=True, tag=103):
    """Who left a market early got more of what that was worth, once the market was settled."""

    EN = words("Early exit paid", "{account} got {paid} more for leaving market {market_id} early")
    RU = words("Доплата за выход", "{account} получает ещё {paid} за ранний выход из рынка {market_id}")

    account: PaidRecipient
    market_id: MarketId
    kind: UInt8
    outcome_index: UInt8
    claimed: Asset
    paid: Annotated[Asset, Meaning.AMOUNT]


class PmLpPayout(VirtualOperation, frozen=True, tag=104):
    """What liquidity brought its provider."""

    EN = words(
        "Liquidity payout", "{account} got {principal} of liquidity and {income} of income from market {market_id}"
    )
    RU = words(
        "Выплата ликвидности", "{account} получает {principal} ликвидности и {income} дохода с рынка {market_id}"
    )

    account: Annotated[AccountName, Role.TOUCHED_IF_NAMED]
    market_id: MarketId
    principal: Asset
    income: Asset
    charge: Asset
