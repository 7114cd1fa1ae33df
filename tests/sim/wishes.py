"""What clients of prediction markets wish to do: for each operation one that a node would take, as far as it sees.

A wish is made from the state of one node. Blocks of others may have made something else of it by the time that the
operation comes to be applied, so that some are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from ledgerd.chain.evaluators.markets.bets import commitment_of
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.markets.bets import (
    PmCancelBet,
    PmCommitBet,
    PmPlaceBet,
    PmRevealBet,
    PmTransferPosition,
)
from ledgerd.protocol.operations.markets.disputes import (
    PmDisputeCreate,
    PmDisputeOracleRespond,
    PmDisputeResolve,
    PmDisputeVote,
    PmUnban,
)
from ledgerd.protocol.operations.markets.leverage import PmLeverageClose, PmLeverageConvert, PmLeverageOpen
from ledgerd.protocol.operations.markets.liquidity import (
    PmAddLiquidity,
    PmLazyDeposit,
    PmLazyWithdraw,
    PmWithdrawLiquidity,
)
from ledgerd.protocol.operations.markets.markets import (
    BINARY,
    BY_ACCOUNT,
    BY_COMMITTEE,
    PmCreateMarket,
    PmNoContest,
    PmResolveMarket,
)
from ledgerd.protocol.operations.markets.oracles import PmOracleAcceptMarket, PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import Commitment
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets import commitments, disputes, leverage, liquidity, markets
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.disputes import PM_CREATOR_BANS, PM_DISPUTES
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PM_MARKETS, PmMarket
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from tests.chain.networks import OTHERS
from tests.sim.keys import AGENT, GENERATIONS, ROLES, agent_key, authority_with, generation_of
from tests.sim.market_grounds import INSURANCE, ORACLES, RESOLVER, open_market, place_bet
from tests.sim.sight import Sight

Wish = Callable[[Sight], Operation | None]


def _register(see: Sight) -> Operation | None:
    oracles = [oracle.owner for oracle in see.store.scan(PM_ORACLES)]
    if len(oracles) == len(OTHERS):
        return None
    return PmOracleRegister(see.player(*oracles), INSURANCE, 100, tokens(100), "", AccountName(""), RESOLVER, False, ())


def _update(see: Sight) -> Operation:
    owner = see.random.choice(ORACLES)
    if see.random.random() < 0.5:
        return PmOracleUpdate(owner, None, see.random.randint(0, 100), None, None, None, None, None, ())
    delta = tokens(see.random.choice((1_000_000, -1_000)))
    return PmOracleUpdate(owner, delta, None, None, None, None, None, None, ())


def _create(see: Sight) -> Operation:
    creator = see.player()
    oracle = see.random.choice((*ORACLES, creator))
    judged = {}
    if see.random.random() < 0.6 and RESOLVER not in {creator, oracle}:
        judged = {"dispute_mode": BY_ACCOUNT, "dispute_resolver": RESOLVER}
    outcomes = see.random.choice((2, 2, 2, 3, 5))
    until = see.now + see.random.choice((20, 60, 120))
    liquidity = tokens(see.random.choice((1_000_000, 10_000_000)))
    fields = {
        "betting_expiration": until,
        "result_expiration": until + see.random.choice((3, 30, 600)),
        "time_penalty_type": see.random.randrange(3),
    }
    return open_market(creator, oracle, see.now, outcomes, liquidity, **fields, **judged)


def _accept(see: Sight) -> Operation | None:
    market = see.some(PM_MARKETS, lambda each: each.status == markets.WAITING)
    if market is None:
        return None
    fee = tokens(market.oracle_fixed_fee)
    return PmOracleAcceptMarket(market.oracle, market.id, see.random.random() < 0.9, market.oracle_fee_percent, fee, ())


def _bet(see: Sight) -> Operation | None:
    market = see.open_market()
    if market is None:
        return None
    amount = see.random.choice((1_000, 50_000, 500_000, 3_000_000))
    return place_bet(see.player(), market.id, see.place(market), amount, is_binary=market.market_type == BINARY)


def _cancel(see: Sight) -> Operation | None:
    found = see.standing_bet()
    return None if found is None else PmCancelBet(found.account, found.id, 0, ())


def _give_away(see: Sight) -> Operation | None:
    found = see.standing_bet()
    if found is None:
        return None
    part = see.random.choice((0, found.weight // 2))
    return PmTransferPosition(found.account, found.id, see.player(found.account), part, "a gift", ())


def _commit(see: Sight) -> Operation | None:
    market = see.open_market(lambda each: each.allow_batch and each.market_type == BINARY)
    if market is None:
        return None
    account, side, amount, salt = (
        see.player(),
        see.place(market),
        see.random.randint(1_000, 100_000),
        f"{see.random.random()}",
    )
    hidden = Commitment(commitment_of(market.id, account, side, -1, amount, 0, salt))
    see.secrets[hidden] = PmRevealBet(account, 0, side, -1, tokens(amount), salt, 0, ())
    percent = see.median.pm_commit_no_reveal_penalty_percent
    return PmCommitBet(account, market.id, hidden, tokens(amount + see.random.choice((0, 500))), percent, ())


def _reveal(see: Sight) -> Operation | None:
    commit = see.some(PM_COMMITS, lambda each: each.status == commitments.COMMITTED and each.commitment in see.secrets)
    return None if commit is None else replace(see.secrets[commit.commitment], commit_id=commit.id)


def _add_liquidity(see: Sight) -> Operation | None:
    market = see.open_market()
    return (
        None
        if market is None
        else PmAddLiquidity(see.player(), market.id, tokens(see.random.choice((100_000, 5_000_000))), ())
    )


def _withdraw_liquidity(see: Sight) -> Operation | None:
    row = see.some(
        PM_LIQUIDITY,
        lambda each: each.status == liquidity.ACTIVE and each.provider in OTHERS and each.market in see.takes_bets,
    )
    return (
        None
        if row is None
        else PmWithdrawLiquidity(row.provider, row.id, tokens(see.random.choice((0, row.amount // 3))), ())
    )


def _resolve(see: Sight) -> Operation | None:
    market = see.some(PM_MARKETS, lambda each: each.status == markets.ACTIVE and each.betting_expiration <= see.now)
    return (
        None
        if market is None
        else PmResolveMarket(market.oracle, market.id, see.place(market), "https://example.test", "seen", ())
    )


def _no_contest(see: Sight) -> Operation | None:
    market = see.some(PM_MARKETS, lambda each: each.status == markets.ACTIVE)
    return None if market is None else PmNoContest(market.oracle, market.id, "nobody knows", ())


def _dispute(see: Sight) -> Operation | None:
    disputed = {dispute.market for dispute in see.store.scan(PM_DISPUTES)}
    market = see.some(PM_MARKETS, lambda each: each.awaits_payment and each.id not in disputed)
    outcome = -1 if market is None else see.random.randint(-1, market.outcome_count - 1)
    return None if market is None else PmDisputeCreate(see.player(), market.id, outcome, "no", ())


def _disputed(see: Sight, mode: int | None = None) -> PmMarket | None:
    """A market with an open dispute."""
    dispute = see.some(
        PM_DISPUTES,
        lambda each: each.status == disputes.OPEN and (mode is None or each.dispute_mode == mode),
    )
    return None if dispute is None else see.store.get(PM_MARKETS, dispute.market)


def _vote(see: Sight) -> Operation | None:
    market = _disputed(see, BY_COMMITTEE)
    percent = see.random.choice((10_000, 5_000, -10_000))
    return None if market is None else PmDisputeVote(see.player(), market.id, see.place(market), percent, ())


def _decide(see: Sight) -> Operation | None:
    market = _disputed(see, BY_ACCOUNT)
    if market is None:
        return None
    bans, until = (see.random.random() < 0.7, see.random.random() < 0.7), see.now + see.random.choice((15, 120))
    penalty = tokens(see.random.choice((0, 1_000_000)))
    outcome = see.place(market)
    return PmDisputeResolve(RESOLVER, market.id, outcome, penalty, bans[0], until, bans[1], until, ())


def _respond(see: Sight) -> Operation | None:
    market = _disputed(see)
    return None if market is None else PmDisputeOracleRespond(market.oracle, market.id, "yes", ())


def _unban(see: Sight) -> Operation | None:
    ban = see.some(PM_CREATOR_BANS, lambda each: each.banned_until > see.now)
    if ban is not None:
        return PmUnban(ban.banned_by, ban.creator, False, True, ())
    oracle = see.some(PM_ORACLES, lambda each: each.banned_until > see.now and each.banned_by in OTHERS)
    return None if oracle is None else PmUnban(oracle.banned_by, oracle.owner, True, False, ())


def _deposit(see: Sight) -> Operation:
    return PmLazyDeposit(see.player(), tokens(see.random.choice((1_000, 100_000_000))), ())


def _withdraw(see: Sight) -> Operation | None:
    deposit = see.some(PM_LAZY_DEPOSITS)
    if deposit is None:
        return None
    part = see.random.choice((0, deposit.shares // 2))
    return PmLazyWithdraw(deposit.account, part, see.now < deposit.unlock_time, ())


def _open_position(see: Sight) -> Operation | None:
    market = see.open_market(lambda each: each.market_type == BINARY and each.liquidity_sum >= 5_000_000)
    if market is None:
        return None
    collateral, loan = (tokens(see.random.choice(each)) for each in ((200_000, 500_000), (100_000, 300_000)))
    return PmLeverageOpen(see.player(), market.id, see.place(market), collateral, loan, 0, 0, ())


def _close_position(see: Sight) -> Operation | None:
    position = see.some(PM_LEVERAGE_POSITIONS, lambda each: each.status == leverage.ACTIVE)
    return None if position is None else PmLeverageClose(position.account, position.id, 0, ())


def _convert_position(see: Sight) -> Operation | None:
    position = see.some(PM_LEVERAGE_POSITIONS, lambda each: each.status == leverage.ACTIVE)
    cost = see.median.pm_conversion_profit_cost_percent
    return None if position is None else PmLeverageConvert(position.account, position.id, cost, ())


def _delegate(see: Sight) -> Operation:
    """Mostly all that one may do in markets, sometimes nothing any more."""
    name = see.player()
    until = see.random.choice((0, see.now + 30, see.now + 300))
    names = tuple(sorted(map(name_of, DELEGATED))) if see.random.random() < 0.8 else ()
    return SetAgentPermission(name, AGENT, agent_key(name).public, names, until, (), ())


def _change_key(see: Sight) -> Operation | None:
    """Of one role; each may change once an hour, so a world sees few of them taken."""
    name, role = see.player(), see.random.choice(ROLES)
    generation = generation_of(see.store, name, role) + 1
    if generation >= GENERATIONS:
        return None
    given = dict.fromkeys(ROLES) | {role: authority_with(name, generation)}
    return AccountUpdate(name, **given, memo_key=NULL_KEY, json_metadata="")


WISHES: dict[type[Operation], tuple[int, Wish]] = {
    PmOracleRegister: (1, _register),
    PmOracleUpdate: (1, _update),
    PmCreateMarket: (6, _create),
    PmOracleAcceptMarket: (4, _accept),
    PmPlaceBet: (8, _bet),
    PmCancelBet: (2, _cancel),
    PmTransferPosition: (2, _give_away),
    PmCommitBet: (4, _commit),
    PmRevealBet: (6, _reveal),
    PmAddLiquidity: (2, _add_liquidity),
    PmWithdrawLiquidity: (2, _withdraw_liquidity),
    PmResolveMarket: (4, _resolve),
    PmNoContest: (1, _no_contest),
    PmDisputeCreate: (3, _dispute),
    PmDisputeVote: (3, _vote),
    PmDisputeResolve: (5, _decide),
    PmDisputeOracleRespond: (3, _respond),
    PmUnban: (5, _unban),
    PmLazyDeposit: (2, _deposit),
    PmLazyWithdraw: (2, _withdraw),
    PmLeverageOpen: (6, _open_position),
    PmLeverageClose: (2, _close_position),
    PmLeverageConvert: (5, _convert_position),
    SetAgentPermission: (2, _delegate),
    AccountUpdate: (1, _change_key),
}
"""How often each kind is wished for, compared with the others, and by what."""

DELEGATED = tuple(each for each in WISHES if each not in {AccountUpdate, SetAgentPermission})
"""What players let their agents sign."""


def wish(see: Sight) -> Operation | None:
    """A kind by chance, and what can be made of it now."""
    weights = [weight for weight, _ in WISHES.values()]
    ((_, make),) = see.random.choices(list(WISHES.values()), weights)
    return make(see)
