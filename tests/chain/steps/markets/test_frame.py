"""The market step as a whole: where it stands, its budgets, its seeds, its order (spec 09, sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import process_hardforks
from ledgerd.chain.steps.applying import STEPS
from ledgerd.chain.steps.markets.frame import SECTIONS, process_markets
from ledgerd.chain.steps.payments import renew_subscriptions
from ledgerd.state.objects.markets.bets import QUEUED
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS, PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest
from ledgerd.state.objects.markets.markets import RESOLVED, TO_BE_PAID, WAITING
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER
from tests.chain.ledgers import ALICE, BOB, NOW, change, run, set_median
from tests.chain.market_scenes import ORACLE, RICH, create_bet, create_market, create_oracle
from tests.chain.steps.markets.market_blocks import next_block, resolved_market, this_block

PLACE = [step.__name__ for step in STEPS].index(process_markets.__name__)


def test_markets_come_between_subscriptions_and_hardforks() -> None:
    assert [step.__name__ for step in STEPS[PLACE - 1 : PLACE + 2]] == [
        renew_subscriptions.__name__,
        process_markets.__name__,
        process_hardforks.__name__,
    ]


def test_before_hardfork_14_nothing_is_done(ledger_at: Callable[[int], Ledger]) -> None:
    ledger = ledger_at(13)
    market = create_market(ledger, status=WAITING, accept_deadline=1)

    run(ledger, STEPS[PLACE])

    assert market.status == WAITING
    assert not ledger.globals.pm_oracle_gauges_seeded


def test_from_hardfork_14_on_the_step_runs(ledger_at: Callable[[int], Ledger]) -> None:
    ledger = ledger_at(14)
    market = create_market(ledger, status=WAITING, accept_deadline=1)

    run(ledger, STEPS[PLACE])

    assert market.status != WAITING


def test_there_are_thirteen_sections() -> None:
    assert [section.__name__ for section in SECTIONS] == [
        "forfeit_commits",
        "refund_unresolved",
        "drop_unaccepted",
        "charge_funding",
        "close_after_betting",
        "close_undecided",
        "finish_voted",
        "settle_resolved",
        "collect_ended",
        "carry_out_batches",
        "recall_idle",
        "lift_bans",
        "pay_withdrawals",
    ]


def test_a_section_without_rows_does_not_stop_those_behind_it(markets: Ledger) -> None:
    unresolved = create_market(markets, result_expiration=1)
    create_bet(markets, unresolved, ALICE, 5)
    create_bet(markets, unresolved, ALICE, 5)
    dropped = create_market(markets, status=WAITING, accept_deadline=1)
    settled = resolved_market(markets, 0)
    set_median(markets, pm_settle_rows_per_block=1)

    this_block(markets)

    assert unresolved.payout_status == 4
    assert (dropped.status, settled.payout_status) == (-1, 3)


def test_turns_are_shared_by_the_sections(markets: Ledger) -> None:
    dropped = [create_market(markets, status=WAITING, accept_deadline=1) for _ in range(2)]
    settled = resolved_market(markets, 0)
    set_median(markets, pm_processing_cap_per_block=2)

    this_block(markets)

    assert [market.status for market in dropped] == [-1, -1]
    assert settled.payout_status == 1
    next_block(markets)
    assert settled.payout_status == 3


# -- withdrawals from the pool (spec 09, section 5.14)


def wait_for(ledger: Ledger, *amounts: int) -> None:
    for number, amount in enumerate(amounts):
        request = PmLazyWithdrawRequest(account=(ALICE, BOB)[number % 2], amount=amount)
        ledger.store.create(PM_LAZY_WITHDRAW_REQUESTS, request)
    change(ledger, ledger.store.get(PM_LAZY_POOLS, 0), pending_withdrawals=sum(amounts))


def test_who_waits_for_tokens_of_the_pool_is_paid_as_far_as_these_go(markets: Ledger) -> None:
    wait_for(markets, 5, 7, 9)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, free_balance=14)

    assert this_block(markets) == []

    assert [markets.account(name).balance - RICH for name in (ALICE, BOB)] == [5 + 2, 7]
    assert [request.amount for request in markets.store.scan(PM_LAZY_WITHDRAW_REQUESTS)] == [7]
    assert (pool.free_balance, pool.pending_withdrawals) == (0, 7)


def test_each_payment_is_a_row(markets: Ledger) -> None:
    wait_for(markets, 1, 1, 1)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=100)
    set_median(markets, pm_settle_rows_per_block=2)

    this_block(markets)
    assert [request.id for request in markets.store.scan(PM_LAZY_WITHDRAW_REQUESTS)] == [2]


def test_rows_that_others_took_are_missing_here(markets: Ledger) -> None:
    wait_for(markets, 1, 1)
    change(markets, markets.store.get(PM_LAZY_POOLS, 0), free_balance=100)
    market = create_market(markets)
    create_bet(markets, market, ALICE, 1_000, status=QUEUED)
    set_median(markets, pm_settle_rows_per_block=1)

    this_block(markets)
    assert len(list(markets.store.scan(PM_LAZY_WITHDRAW_REQUESTS))) == 2


# -- the first block with markets (spec 09, section 4.1)


def test_the_first_block_says_that_all_is_counted_and_counts_for_who_registered_in_it(markets: Ledger) -> None:
    create_oracle(markets, BOB, active_since=NOW - 4, active_markets=9)
    create_oracle(markets, ORACLE, active_since=NOW - 3)
    create_market(markets, oracle=BOB)
    create_market(markets)
    create_market(markets, status=RESOLVED, payout_status=TO_BE_PAID, result_expiration=NOW)

    def first_step(ledger: Ledger, context: BlockContext) -> None:
        process_markets(ledger, BlockContext(context.block, context.skip, NOW - 3))

    run(markets, first_step)

    globals_ = markets.globals
    assert globals_.pm_frozen_counters_seeded
    assert globals_.pm_frozen_counters_reseeded_v1
    assert globals_.pm_active_markets_seeded
    assert globals_.pm_oracle_gauges_seeded
    newcomer, older = (markets.store.at(ORACLE_BY_OWNER, name) for name in (ORACLE, BOB))
    assert (newcomer.active_markets, newcomer.markets_in_dispute_window, older.active_markets) == (1, 1, 9)


def test_later_blocks_count_for_nobody(markets: Ledger) -> None:
    this_block(markets)
    oracle = create_oracle(markets, active_since=NOW)
    create_market(markets)

    next_block(markets)

    assert oracle.active_markets == 0
