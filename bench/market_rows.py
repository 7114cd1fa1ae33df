"""Writes a data directory of `ledgerd dev` with a large state of markets, past the rules: `ledgerd check` accepts it.

    python -m bench.market_rows FOLDER --markets 130000 --bets 2000000 --accounts 14000

A chain of a few blocks comes first, by the rules; then the rows of `market_plan` are written, some thousands a commit,
and the supply grows by what they hold. The key of all accounts is the published one of the testnet's initiator.
"""

from __future__ import annotations

import argparse
import sys
from array import array
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import TypeVar

from bench.market_plan import DAY, MINUTE, Kind, Plan, Scale, Stage, scatter, weight_of
from ledgerd.chain.offline.audit import TokenTally
from ledgerd.cli.process.dev import MARK
from ledgerd.pricing.constant_product import buy, opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol.operations.markets.markets import BINARY, MULTI
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.identifiers import Commitment
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Space
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets.bets import PM_BETS, PmBet
from ledgerd.state.objects.markets.commitments import PM_COMMITS, PmCommit
from ledgerd.state.objects.markets.lazy_pool import (
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_DEPOSITS,
    PM_LAZY_POOLS,
    PmLazyAllocation,
    PmLazyDeposit,
)
from ledgerd.state.objects.markets.leverage import LEVERAGE_ENDS, PM_LEVERAGE_POSITIONS, LeverageEnd, PmLeveragePosition
from ledgerd.state.objects.markets.liquidity import CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    PAID,
    PM_MARKETS,
    PM_OUTCOMES,
    RESOLVED,
    TO_BE_PAID,
    PmMarket,
    PmOutcome,
)
from ledgerd.state.objects.markets.oracles import PM_ORACLES, PmOracle
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim
from ledgerd.state.tables.tables import Entity, Table
from tests.chain.networks import VIZ_KEY, Network

E = TypeVar("E", bound=Entity)

LAST_HARDFORK = 15
ROWS_A_COMMIT = 100_000
WIDE = Space(initial=4 << 30)
"""A map that needs not grow, which costs time: the file itself is as long as what is in it."""

BALANCE, SHARES = 10**9, 10**12
"""Of each account; the shares are for bandwidth."""
INSURANCE, LIQUIDITY, FREE, DEPOSIT = 10**10, 10**7, 10**12, 10**9
COLLATERAL, LOAN, ESCROW, CLAIM = 100_000, 100_000, 1_500, 500
SECONDS_BETWEEN = 6
"""From one market whose time has come to the next."""
CALM = 8 * MINUTE
"""For so long nothing is due but funding, recalls and what waits for the end of an epoch."""


def member(number: int) -> AccountName:
    """The name of an account."""
    return AccountName(f"member-{number}")


class Writer:
    """Puts rows into a state, and counts their tokens."""

    def __init__(self, network: Network, plan: Plan) -> None:
        parts = network.chain.parts
        parts.store.irreversible(parts.store.revision)
        self.ledger, self.store, self.plan, self.scale = parts.ledger, parts.store, plan, plan.scale
        self.now = parts.ledger.now
        self.tally = TokenTally()
        self._uncommitted = 0
        self.provided, self.pledged = array("q", bytes(8 * self.scale.accounts)), Counter[int]()
        self.active, self.in_window = Counter[int](), Counter[int]()
        self.in_markets = 0
        """What the lazy pool has there."""

    def put(self, table: Table[E], row: E) -> E:
        """A row, which is not changed any more."""
        made: E = self.store.create(table, row)
        self.tally.add(made)
        self._uncommitted += 1
        if self._uncommitted >= ROWS_A_COMMIT:
            self.store.commit()
            self._uncommitted = 0
        return made

    # -- markets

    def write_markets(self) -> None:
        """Markets with all that belongs to them but their bets."""
        positions = self.scale.positions
        for number, kind in enumerate(self.plan.kinds):
            market = self._market(number, kind)
            if kind.stage is Stage.OPEN and kind.is_binary and positions:
                positions -= 1
                self._open_position(market, number)
            self.put(PM_MARKETS, market)
            if market.id != number:
                raise ValueError(f"market {number} is number {market.id} of the state: there were others before")
            self._put_outcomes(number, kind)
            self._put_liquidity(market, number, kind)

    def _market(self, number: int, kind: Kind) -> PmMarket:
        liquidity = LIQUIDITY * (2 if kind.has_pool else 1)
        oracle = scatter(number, 11) % self.scale.oracles
        market = PmMarket(
            creator=member(scatter(number, 12) % self.scale.accounts),
            oracle=member(oracle),
            market_type=BINARY if kind.is_binary else MULTI,
            outcome_count=kind.outcomes,
            url=f"https://example.test/market/{number}",
            status=ACTIVE if kind.stage in {Stage.OPEN, Stage.TO_BE_REFUNDED} else RESOLVED,
            lmsr_subsidy=liquidity,
            bets_sum=self.plan.bets_sum(number),
            liquidity_sum=liquidity,
            oracle_fee_percent=100,
            creator_fee_percent=100,
            liquidity_fee_percent=200,
            oracle_fixed_fee=100,
            time_penalty_value=50_000,
            allow_early_resolution=True,
            allow_cancellation=True,
            allow_batch=True,
            dispute_penalty_percent=1_000,
            open_commits=self._commits_of(number),
            deferred_claim_count=int(_has_claim(number, kind)),
        )
        self._set_times(market, number, kind)
        self._set_curve(market, number, kind, liquidity)
        self.active[oracle] += market.status == ACTIVE
        self.in_window[oracle] += kind.stage is Stage.TO_BE_SETTLED
        return market

    def _set_times(self, market: PmMarket, number: int, kind: Kind) -> None:
        """Open markets end within three months, a few within the next hour; the others one by one after a calm."""
        now, median = self.now, self.ledger.median
        market.created_time = now - 30 * DAY - scatter(number, 13) % DAY
        if kind.stage is Stage.OPEN:
            market.betting_expiration = now + 10 * MINUTE + scatter(number, 14) % (90 * DAY)
            market.result_expiration = market.betting_expiration + DAY
            return
        due = now + CALM + number * SECONDS_BETWEEN
        market.result_expiration = due - median.pm_dispute_grace_sec
        market.betting_expiration = market.result_expiration - DAY
        if kind.stage is not Stage.TO_BE_REFUNDED:
            market.resolved_outcome, market.payout_status = 0, TO_BE_PAID
        if kind.stage is Stage.TO_BE_COLLECTED:
            market.payout_status, market.finalized_time = PAID, due - median.pm_closed_market_retention_sec

    def _set_curve(self, market: PmMarket, number: int, kind: Kind, liquidity: int) -> None:
        """As if the bets on each side had been one."""
        if not kind.is_binary:
            market.lmsr_b = depth_of_liquidity(liquidity, kind.outcomes)
            return
        market.reserve_a, market.reserve_b, market.k = opening_reserves(liquidity)
        market.a_bets_sum, market.b_bets_sum = (self.plan.amounts[place] for place in self.plan.places_of(number))
        for side, amount in enumerate((market.a_bets_sum, market.b_bets_sum)):
            _, market.reserve_a, market.reserve_b = buy(market.reserve_a, market.reserve_b, market.k, amount, side)

    def _put_outcomes(self, number: int, kind: Kind) -> None:
        """Those of a binary market count nothing: the market does."""
        for place, where in enumerate(self.plan.places_of(number)):
            outcome = PmOutcome(market=number, outcome_index=place, label=f"outcome {place}")
            if not kind.is_binary:
                outcome.bets_sum, outcome.q = self.plan.amounts[where], self.plan.weights[where]
                outcome.bets_count = self.plan.counts[where]
            self.put(PM_OUTCOMES, outcome)

    def _put_liquidity(self, market: PmMarket, number: int, kind: Kind) -> None:
        """The creator's, and that of the pool; in a market that is paid out it was given back."""
        status = CLOSED if kind.stage is Stage.TO_BE_COLLECTED else 0
        since, depth = market.created_time, market.lmsr_b // (2 if kind.has_pool else 1)
        row = PmLiquidity(market=number, provider=market.creator, amount=LIQUIDITY, deposit_time=since, b_share=depth)
        row.status = status
        self.put(PM_LIQUIDITY, row)
        if status != CLOSED:
            self.provided[scatter(number, 12) % self.scale.accounts] += LIQUIDITY
        if kind.has_pool:
            self.put(PM_LIQUIDITY, PmLiquidity(market=number, amount=LIQUIDITY, deposit_time=since, b_share=depth))
            self.in_markets += LIQUIDITY
            allocation = PmLazyAllocation(market=number, amount=LIQUIDITY, original_amount=LIQUIDITY)
            allocation.last_check_time = self.now - scatter(number, 15) % DAY
            allocation.bets_sum_at_check = market.bets_sum
            self.put(PM_LAZY_ALLOCATIONS, allocation)
        if _has_claim(number, kind):
            account = member(scatter(number, 16) % self.scale.accounts)
            self.put(PM_DEFERRED_CLAIMS, PmDeferredClaim(market=number, account=account, claim_amount=CLAIM))

    def _open_position(self, market: PmMarket, number: int) -> None:
        """Leverage of two on the first side; funding falls due once a day."""
        account, now, total = scatter(number, 17) % self.scale.accounts, self.now, COLLATERAL + LOAN
        fill = buy(market.reserve_a, market.reserve_b, market.k, total, 0)
        market.reserve_a, market.reserve_b = fill.reserve_a, fill.reserve_b
        position = PmLeveragePosition(
            market=number,
            account=member(account),
            collateral=COLLATERAL,
            loan=LOAN,
            total_bet=total,
            tokens=fill.tokens,
            liquidation_threshold=LOAN + LOAN // 100,
            created_time=now - DAY,
            last_update=now - DAY,
            funding_due_time=now + scatter(number, 18) % DAY,
        )
        self.put(PM_LEVERAGE_POSITIONS, position)
        self.put(LEVERAGE_ENDS, LeverageEnd(market=number, time=market.betting_expiration))
        self.pledged[account] += COLLATERAL

    # -- bets

    def write_bets(self) -> None:
        """All bets, in the order in which they came; those of one market lie far from each other."""
        names = [member(number) for number in range(self.scale.accounts)]
        kinds, since = self.plan.kinds, self.now - 30 * DAY
        for number, stake in enumerate(self.plan.stakes()):
            kind = kinds[stake.market]
            bet = PmBet(
                market=stake.market,
                account=names[stake.account],
                amount=stake.amount,
                created_time=since + number * 30 * DAY // self.scale.bets,
            )
            if kind.is_binary:
                bet.side = stake.place
            else:
                bet.outcome_index = stake.place
            if stake.is_queued:
                bet.status, bet.mode = bets.QUEUED, 1
            else:
                bet.weight = weight_of(stake.amount, kind.outcomes)
                bet.entry_liquidity = LIQUIDITY if kind.is_binary else 0
            if kind.stage is Stage.TO_BE_COLLECTED:
                bet.status = bets.RESOLVED
            self.put(PM_BETS, bet)

    def _commits_of(self, number: int) -> int:
        """Hidden bets stand on open markets, one on each of the first."""
        return int(self.scale.due <= number < self.scale.due + self.scale.commits)

    def write_commits(self) -> None:
        """Hidden bets; the median's windows are eleven minutes long."""
        for number in range(min(self.scale.commits, self.scale.markets)):
            commit = PmCommit(
                market=self.scale.due + number,
                account=member(scatter(number, 19) % self.scale.accounts),
                commitment=Commitment(number.to_bytes(32, "big")),
                escrow_amount=ESCROW,
                no_reveal_fee_percent=self.ledger.median.pm_commit_no_reveal_penalty_percent,
                commit_time=self.now,
                reveal_deadline=self.now + CALM + scatter(number, 20) % (3 * MINUTE),
            )
            self.put(PM_COMMITS, commit)

    # -- accounts, oracles, the pool

    def write_accounts(self) -> None:
        """Accounts with what they have in markets, and the roles that some of them have."""
        authority = authority_of(VIZ_KEY.public)
        for number in range(self.scale.accounts):
            account = Account(
                name=member(number),
                memo_key=VIZ_KEY.public,
                created=1,
                balance=BALANCE,
                vesting_shares=SHARES,
                pm_liquidity_committed=self.provided[number],
                pm_bets_staked=self.plan.staked[number],
                pm_leverage_collateral=self.pledged[number],
            )
            self.put(ACCOUNTS, account)
            same = AccountAuthority(account=account.name, master=authority, active=authority, regular=authority)
            self.put(ACCOUNT_AUTHORITIES, same)
            self.put(ACCOUNT_METADATA, AccountMetadata(account=account.name))
        for number in range(self.scale.oracles):
            oracle = PmOracle(owner=member(number), insurance=INSURANCE, fee_percent=100, fixed_fee=100)
            oracle.active_since = oracle.last_active_time = self.now - DAY
            oracle.active_markets, oracle.markets_in_dispute_window = self.active[number], self.in_window[number]
            self.put(PM_ORACLES, oracle)
        for number in range(self.scale.depositors):
            self.put(PM_LAZY_DEPOSITS, PmLazyDeposit(account=member(number), shares=DEPOSIT, principal=DEPOSIT))

    def write_sums(self) -> None:
        """What the pool and the whole ledger say of it."""
        ledger, lent = self.ledger, LOAN * self.pledged.total() // COLLATERAL
        pool, globals_ = self.store.get(PM_LAZY_POOLS, 0), ledger.globals
        with ledger.editing(pool):
            pool.total_shares = DEPOSIT * self.scale.depositors
            pool.free_balance, pool.allocated_balance, pool.leverage_fund_used = FREE, self.in_markets, lent
        self.tally.add(pool)
        shares = SHARES * self.scale.accounts
        fund = globals_.tokens_for(shares)
        with ledger.editing(globals_):
            globals_.total_vesting_shares += shares
            globals_.total_vesting_fund += fund
            globals_.current_supply += self.tally.found + fund
        self.store.commit()


def _has_claim(number: int, kind: Kind) -> bool:
    """Whether somebody has left a market early; on the first outcome."""
    return kind.is_binary and kind.stage in {Stage.OPEN, Stage.TO_BE_SETTLED} and number % 20 == 0


def write_state(folder: Path, scale: Scale) -> None:
    """Make the data directory; what was begun and not ended cannot be gone on with."""
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} holds something: choose an empty directory")
    folder.mkdir(parents=True, exist_ok=True)
    plan, network = Plan(scale), Network(folder, space=WIDE)
    try:
        network.start()
        while network.chain.last_hardfork < LAST_HARDFORK:
            network.produce()
        network.produce(2)
        writer = Writer(network, plan)
        writer.write_markets()
        writer.write_bets()
        writer.write_commits()
        writer.write_accounts()
        writer.write_sums()
    finally:
        network.chain.close()
    (folder / MARK).touch()


def main() -> None:
    """Write a state of the size that is asked for."""
    arguments = argparse.ArgumentParser(prog="python -m bench.market_rows", description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("folder", type=Path, help="an empty directory")
    for name, count in Scale()._asdict().items():
        arguments.add_argument(f"--{name}", type=int, default=count, help=f"default: {count}")
    chosen = arguments.parse_args()
    began = monotonic()
    write_state(chosen.folder, Scale(chosen.markets, chosen.bets, chosen.accounts))
    sys.stdout.write(f"written in {monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
