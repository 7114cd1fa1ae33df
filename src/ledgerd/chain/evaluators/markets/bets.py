"""The rules of bets: placing one, taking it back, giving it to somebody else (spec 08, sections 5.1, 5.4 and 5.5),
and hiding it under a hash at first (sections 3.7, 5.2 and 5.3). What becomes of hidden bets is up to the step of the
block.
"""

from __future__ import annotations

import struct

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import find_outcome, outcomes_of, priced, reserves_of, time_penalty_of
from ledgerd.chain.rules.markets.liquidation import BY_CANCELLED_BET, BY_OPPOSING_BET, cascade
from ledgerd.chain.rules.markets.market import (
    STAKES,
    adjust_frozen,
    count_stake,
    defer_claim,
    market_of,
    move_balance,
    require_active,
    require_betting_open,
    require_markets_enabled,
    require_not_being_refunded,
)
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.codec.json.text import text_bytes
from ledgerd.pricing.constant_product import cancel, instant_fill
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.pricing.widths import mul_div
from ledgerd.protocol.constants import BLOCK_INTERVAL, MAX_PM_OPEN_COMMITS_PER_MARKET
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.markets import bets
from ledgerd.protocol.operations.markets.markets import BINARY
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import MAX_NAME_BYTES, AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.markets.bets import ACTIVE, CANCELLED, PM_BETS, QUEUED, PmBet
from ledgerd.state.objects.markets.commitments import COMMITTED, PM_COMMITS, REVEALED, PmCommit
from ledgerd.state.objects.markets.markets import PmMarket
from ledgerd.state.objects.markets.settlements import CANCELLED_BET


@evaluates(bets.PmPlaceBet)
def pm_place_bet(ledger: Ledger, operation: bets.PmPlaceBet) -> None:
    """Bet at once at the price of now (spec 08, section 5.1). Before hardfork 15 this is so in both modes."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require_active(market)
    require_betting_open(ledger, market, "Betting period ended")
    _check_mode_and_amount(ledger, operation, market)
    account = ledger.account(operation.account)
    require(account.balance >= operation.amount.amount, "acct.balance >= o.amount: Insufficient balance")
    if market.market_type == BINARY:
        _bet_on_side(ledger, operation, market, account)
    else:
        _bet_on_outcome(ledger, operation, market, account)


def _check_mode_and_amount(ledger: Ledger, operation: bets.PmPlaceBet, market: PmMarket) -> None:
    is_instant, amount, median = operation.mode == bets.INSTANT, operation.amount, ledger.median
    if ledger.hardfork(15):
        require(is_instant, "o.mode == 0: Batch bets must use commit and reveal")
    if is_instant:
        require(market.allow_instant_bet, "mkt.allow_instant_bet: Instant betting is disabled for this market")
    else:
        require(market.allow_batch, "mkt.allow_batch: Batch betting is not enabled for this market")
    require(amount.is_token, "o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ")
    require(amount.amount > 0, "o.amount.amount > 0: Amount must be positive")
    if is_instant:
        require(
            amount.amount >= median.pm_min_bet.amount,
            "o.amount.amount >= mp.pm_min_bet.amount: Bet below the minimum instant bet (pm_min_bet)",
        )
    else:
        require(
            amount.amount >= median.pm_min_batch_bet.amount,
            "o.amount.amount >= mp.pm_min_batch_bet.amount: Bet below the minimum batch bet (pm_min_batch_bet)",
        )


def _bet_on_side(ledger: Ledger, operation: bets.PmPlaceBet, market: PmMarket, account: Account) -> None:
    """In a binary market. Positions that earlier bets have left too low fall first, at the price before this one."""
    side, amount = operation.side, operation.amount.amount
    require(side in {0, 1}, "o.side == 0 || o.side == 1: Binary market requires side 0 or 1")
    require(operation.outcome_index == -1, "o.outcome_index == -1: Binary market does not use outcome_index")
    cascade(ledger, market, 1 - side, BY_OPPOSING_BET)
    fill = priced(instant_fill, market.reserve_a, market.reserve_b, market.k, amount, side)
    require(fill.tokens > 0, "tokens_out.value > 0: Zero tokens out")
    require(fill.tokens >= operation.min_tokens, "tokens_out.value >= o.min_tokens: Slippage: tokens below min_tokens")
    move_balance(ledger, account, -amount, STAKES, amount)
    with ledger.editing(market):
        market.reserve_a, market.reserve_b = fill.reserve_a, fill.reserve_b
        count_stake(market, side, amount)
    _create(ledger, operation, market, fill.tokens, entry_liquidity=market.liquidity_sum)


def _bet_on_outcome(ledger: Ledger, operation: bets.PmPlaceBet, market: PmMarket, account: Account) -> None:
    place, amount = operation.outcome_index, operation.amount.amount
    require(operation.side == -1, "o.side == -1: Multi market does not use side")
    require(
        0 <= place < market.outcome_count,
        "o.outcome_index >= 0 && o.outcome_index < (int16_t)mkt.outcome_count: outcome_index out of range",
    )
    outcomes = outcomes_of(ledger, market)
    bought = priced(tokens_for_amount, [outcome.q for outcome in outcomes], market.lmsr_b, place, amount)
    require(bought > 0, "tokens > 0: Zero LMSR tokens")
    require(bought >= operation.min_tokens, "tokens >= o.min_tokens: Slippage: LMSR tokens below min_tokens")
    move_balance(ledger, account, -amount, STAKES, amount)
    outcome = outcomes[place]
    with ledger.editing(market, outcome):
        market.bets_sum = fits_int64(market.bets_sum + amount)
        outcome.q = fits_int64(outcome.q + bought)
        outcome.bets_sum = fits_int64(outcome.bets_sum + amount)
        outcome.bets_count = uint32(outcome.bets_count + 1)
    _create(ledger, operation, market, bought, entry_liquidity=0)


def _create(ledger: Ledger, operation: bets.PmPlaceBet, market: PmMarket, weight: int, entry_liquidity: int) -> None:
    now = ledger.now
    bet = PmBet(
        market=market.id,
        account=operation.account,
        side=operation.side,
        outcome_index=operation.outcome_index,
        amount=operation.amount.amount,
        weight=weight,
        mode=operation.mode,
        created_time=now,
        entry_liquidity=entry_liquidity,
        time_penalty=time_penalty_of(ledger, market, now),
    )
    ledger.store.create(PM_BETS, bet)


@evaluates(bets.PmCancelBet)
def pm_cancel_bet(ledger: Ledger, operation: bets.PmCancelBet) -> None:
    """Spec 08, section 5.4."""
    require_markets_enabled(ledger)
    bet = ledger.store.get(PM_BETS, operation.bet_id)
    require(bet.account == operation.account, "bet.account == o.account: Not your bet")
    require(bet.status == ACTIVE, "bet.status == 0: Bet not active")
    market = market_of(ledger, bet.market)
    require(market.allow_cancellation, "mkt.allow_cancellation: Cancellation not allowed")
    require_active(market)
    require_betting_open(ledger, market, "Cannot cancel bets after betting closes")
    is_binary = market.market_type == BINARY
    paid = _leave_side(ledger, bet, market) if is_binary else _leave_outcome(ledger, bet, market)
    require(paid >= operation.min_return, "refund.value >= o.min_return: Refund below min_return")
    move_balance(ledger, ledger.account(operation.account), paid, STAKES, -bet.amount)
    with ledger.editing(bet):
        bet.status = CANCELLED
    if is_binary and bet.side >= 0:
        cascade(ledger, market, bet.side, BY_CANCELLED_BET)


def _leave_side(ledger: Ledger, bet: PmBet, market: PmMarket) -> int:
    """What the curve gives beyond the stake is a claim on its side; of what it gives less, those who win are paid."""
    left = priced(
        cancel,
        reserves_of(market),
        bet.side,
        bet.weight,
        bet.amount,
        bet.entry_liquidity,
        market.liquidity_sum,
    )
    with ledger.editing(market):
        market.reserve_a, market.reserve_b = left.reserve_a, left.reserve_b
        count_stake(market, bet.side, -bet.amount)
        market.forfeit_pool = fits_int64(market.forfeit_pool + left.residual)
    defer_claim(ledger, market, bet.account, CANCELLED_BET, bet.side, left.tail)
    return left.paid


def _leave_outcome(ledger: Ledger, bet: PmBet, market: PmMarket) -> int:
    """In a market of more outcomes the stake comes back whole."""
    outcome = find_outcome(ledger, market, bet.outcome_index & 0xFF)
    if outcome is not None:
        ledger.remember(outcome)
        outcome.q = fits_int64(outcome.q - bet.weight)
        outcome.bets_sum = fits_int64(outcome.bets_sum - bet.amount)
        outcome.bets_count = max(0, outcome.bets_count - 1)
    ledger.remember(market)
    market.bets_sum = fits_int64(market.bets_sum - bet.amount)
    return bet.amount


@evaluates(bets.PmTransferPosition)
def pm_transfer_position(ledger: Ledger, operation: bets.PmTransferPosition) -> None:
    """Give a bet away, or a part of it by weight; the market's sums stay (spec 08, section 5.5)."""
    require_markets_enabled(ledger)
    bet = ledger.store.get(PM_BETS, operation.bet_id)
    require(bet.account == operation.sender, "bet.account == o.from: Not your bet")
    require(bet.status == ACTIVE, "bet.status == 0: Bet not active")
    ledger.account(operation.recipient)
    weight = operation.amount or bet.weight
    require(
        0 < weight <= bet.weight,
        "transfer_weight.value > 0 && transfer_weight.value <= bet.weight.value: Invalid transfer amount",
    )
    market = market_of(ledger, bet.market)
    require_active(market)
    require_not_being_refunded(market)
    stake = bet.amount
    if weight == bet.weight:
        with ledger.editing(bet):
            bet.account = operation.recipient
    else:
        stake = _divide(ledger, operation, bet, weight)
    adjust_frozen(ledger, operation.sender, STAKES, -stake)
    adjust_frozen(ledger, operation.recipient, STAKES, stake)


def _divide(ledger: Ledger, operation: bets.PmTransferPosition, bet: PmBet, weight: int) -> int:
    minimum = ledger.median.pm_min_bet.amount
    part = priced(mul_div, bet.amount, weight, bet.weight)
    require(
        part >= minimum,
        "transferred_amount >= mp.pm_min_bet.amount: Transferred part is below the minimum bet (pm_min_bet)",
    )
    require(
        bet.amount - part >= minimum,
        "bet.amount - transferred_amount >= mp.pm_min_bet.amount: Remaining part is below the minimum bet "
        "(pm_min_bet); transfer the whole position instead",
    )
    with ledger.editing(bet):
        bet.weight = fits_int64(bet.weight - weight)
        bet.amount = fits_int64(bet.amount - part)
    new_bet = PmBet(
        market=bet.market,
        account=operation.recipient,
        side=bet.side,
        outcome_index=bet.outcome_index,
        amount=part,
        weight=weight,
        mode=bet.mode,
        epoch=bet.epoch,
        created_time=bet.created_time,
        time_penalty=bet.time_penalty,
        entry_liquidity=bet.entry_liquidity,
    )
    ledger.store.create(PM_BETS, new_bet)
    return part


_FIXED = struct.Struct(f"<q{MAX_NAME_BYTES}sbhqq")


def commitment_of(
    market: int, account: AccountName, side: int, outcome_index: int, amount: int, min_tokens: int, salt: str
) -> bytes:
    """The hash of a bet: its fields one after the other, the name filled up with zeros, then the salt."""
    name = text_bytes(account)
    fields = _FIXED.pack(market, name, side, outcome_index, amount, min_tokens)
    return sha256(fields + text_bytes(salt))


@evaluates(bets.PmCommitBet)
def pm_commit_bet(ledger: Ledger, operation: bets.PmCommitBet) -> None:
    """Put tokens aside under a hash. A market of any type may take hidden bets (spec 08, section 5.2)."""
    require_markets_enabled(ledger)
    median = ledger.median
    require(median.pm_commit_reveal_enabled, "mp.pm_commit_reveal_enabled: Commit-reveal not enabled")
    market = market_of(ledger, operation.market_id)
    require_active(market)
    require(market.allow_batch, "mkt.allow_batch: Batch mode not enabled")
    require_betting_open(ledger, market, "Betting period ended")
    escrow = operation.escrow_amount
    require(escrow.is_token, "o.escrow_amount.symbol == TOKEN_SYMBOL: Escrow must be VIZ")
    require(
        escrow.amount >= median.pm_min_batch_bet.amount,
        "o.escrow_amount.amount >= mp.pm_min_batch_bet.amount: Escrow below minimum batch bet",
    )
    require(
        operation.no_reveal_fee_percent == median.pm_commit_no_reveal_penalty_percent,
        "o.no_reveal_fee_percent == mp.pm_commit_no_reveal_penalty_percent: "
        "no_reveal_fee_percent must equal current consensus value",
    )
    require(
        market.open_commits < MAX_PM_OPEN_COMMITS_PER_MARKET,
        "mkt.open_commits < MAX_PM_OPEN_COMMITS_PER_MARKET: Open commit cap reached for this market",
    )
    account = ledger.account(operation.account)
    require(account.balance >= escrow.amount, "acct.balance >= o.escrow_amount: Insufficient balance for escrow")
    adjust_balance(ledger, account, -escrow.amount)
    commit = PmCommit(
        market=market.id,
        account=account.name,
        commitment=operation.commitment,
        escrow_amount=escrow.amount,
        no_reveal_fee_percent=operation.no_reveal_fee_percent,
        commit_time=ledger.now,
        reveal_deadline=_reveal_deadline(ledger),
    )
    ledger.store.create(PM_COMMITS, commit)
    ledger.remember(market)
    market.open_commits += 1


def _reveal_deadline(ledger: Ledger) -> int:
    """So many blocks after the end of the epoch, both counted from the block before."""
    median, head = ledger.median, ledger.head_number
    length = median.pm_batch_epoch_blocks
    epoch_end = uint32((head // length + 1) * length)
    blocks = uint32(epoch_end - head + median.pm_reveal_window_blocks)
    return uint32(ledger.now + blocks * BLOCK_INTERVAL)


@evaluates(bets.PmRevealBet)
def pm_reveal_bet(ledger: Ledger, operation: bets.PmRevealBet) -> None:
    """Spec 08, section 5.3. Whether the outcome exists is seen when the bet is carried out, at the end of its epoch."""
    require_markets_enabled(ledger)
    commit = ledger.store.get(PM_COMMITS, operation.commit_id)
    require(commit.account == operation.account, "commit.account == o.account: Not your commitment")
    require(commit.status == COMMITTED, "commit.status == 0: Already revealed or forfeited")
    require(ledger.now <= commit.reveal_deadline, "now <= commit.reveal_deadline: Reveal window passed")
    amount = operation.amount
    require(amount.is_token, "o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ")
    require(
        0 < amount.amount <= commit.escrow_amount,
        "o.amount.amount > 0 && o.amount.amount <= commit.escrow_amount: Invalid reveal amount",
    )
    require(
        _hash_of(commit, operation) == commit.commitment,
        "verify_commit(commit, o.side, o.outcome_index, o.amount.amount, o.min_tokens, o.salt): "
        "Commitment hash mismatch",
    )
    market = market_of(ledger, commit.market)
    require_active(market)
    require_betting_open(ledger, market, "Betting period ended")
    surplus = fits_int64(commit.escrow_amount - amount.amount)
    move_balance(ledger, ledger.account(operation.account), surplus, STAKES, amount.amount)
    with ledger.editing(commit, market):
        commit.status = REVEALED
        market.open_commits = max(0, market.open_commits - 1)
    _queue(ledger, operation, commit, market)


def _hash_of(commit: PmCommit, operation: bets.PmRevealBet) -> bytes:
    return commitment_of(
        commit.market,
        commit.account,
        operation.side,
        operation.outcome_index,
        operation.amount.amount,
        operation.min_tokens,
        operation.salt,
    )


def _queue(ledger: Ledger, operation: bets.PmRevealBet, commit: PmCommit, market: PmMarket) -> None:
    """The bet joins the market's epoch; its risk began when it was hidden."""
    bet = PmBet(
        market=market.id,
        account=operation.account,
        side=operation.side,
        outcome_index=operation.outcome_index,
        amount=operation.amount.amount,
        min_tokens=operation.min_tokens,
        mode=bets.BATCH,
        epoch=market.current_epoch,
        status=QUEUED,
        created_time=ledger.now,
        time_penalty=time_penalty_of(ledger, market, commit.commit_time),
    )
    ledger.store.create(PM_BETS, bet)
