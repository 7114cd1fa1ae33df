"""What the market step costs: rows of settlements, refunds and collections, and blocks beside many open markets.

Rows are written as if their bets had been made long ago, by accounts that all differ. A row's part in the durable
commit counts.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import NamedTuple

import msgspec

from bench.bench_chain import GROWTH, network, packed_blocks, recovery_seconds, replay_seconds, verdict
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.codec import codec_of
from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import NO_BLOCK, MerkleRoot
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.signatures import Signature
from ledgerd.state.objects import bets
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.bets import PM_BETS, PmBet
from ledgerd.state.objects.lazy_pool import PM_LAZY_ALLOCATIONS, PmLazyAllocation
from ledgerd.state.objects.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets import (
    ACTIVE,
    BEING_PAID,
    PAID,
    PM_MARKETS,
    PM_OUTCOMES,
    RESOLVED,
    TO_BE_PAID,
    PmMarket,
    PmOutcome,
)
from tests.chain.crowds import ACCOUNTS_A_COMMIT
from tests.chain.networks import VIZ, Network

ROWS, MOST_ROWS = 2_000, 100_000
"""What a median says if nobody asks for more, and the most that one may say."""

STEP_SECONDS = 0.110
STAKE, LIQUIDITY = 1_000, 10_000_000
FEW, MANY = 10, 130_000
BLOCKS = 300
LONG_AGO = 86_400 * 30


class Work(NamedTuple):
    """A kind of rows, and how a market of it looks whose time has come."""

    title: str
    status: int
    payout_status: int
    finalized_time: int
    rows_a_bet: int


def works(now: int) -> tuple[Work, ...]:
    """A bet is counted and paid; a collection removes it, and that is all."""
    return (
        Work("settlement", RESOLVED, TO_BE_PAID, 0, 2),
        Work("refund", ACTIVE, BEING_PAID, 0, 2),
        Work("collection", RESOLVED, PAID, now - LONG_AGO, 1),
    )


def empty_block(ledger: Ledger) -> BlockContext:
    """A block of nothing, for the step to be in."""
    block = Block(
        previous=NO_BLOCK,
        timestamp=ledger.now,
        validator=VIZ,
        transaction_merkle_root=MerkleRoot(bytes(20)),
        extensions=(),
        validator_signature=Signature(bytes(65)),
        transactions=(),
    )
    return BlockContext(block, Skip.NOTHING, ledger.now)


def set_rows(ledger: Ledger, rows: int) -> None:
    """Say how many rows a block has."""
    schedule = ledger.schedule
    with ledger.editing(schedule):
        schedule.median_props = msgspec.structs.replace(schedule.median_props, pm_settle_rows_per_block=rows)


def write_market(net: Network, work: Work, count: int) -> None:
    """A market of many bets, each of another account, a third of which has won."""
    ledger, store = net.chain.parts.ledger, net.chain.parts.store
    due = ledger.now - LONG_AGO
    market = PmMarket(
        creator=VIZ,
        oracle=VIZ,
        status=work.status,
        payout_status=work.payout_status,
        finalized_time=work.finalized_time,
        result_expiration=due,
        resolved_outcome=0 if work.status == RESOLVED else -1,
        bets_sum=count * STAKE,
        liquidity_sum=LIQUIDITY,
    )
    market.reserve_a, market.reserve_b, market.k = opening_reserves(LIQUIDITY)
    store.create(PM_MARKETS, market)
    status = bets.RESOLVED if work.payout_status == PAID else bets.ACTIVE
    for number in range(count):
        account = store.create(ACCOUNTS, Account(name=AccountName(f"{work.title}-{count}-{number}")))
        bet = PmBet(market=market.id, account=account.name, amount=STAKE, weight=STAKE, status=status)
        bet.side = 0 if number % 3 == 0 else 1
        store.create(PM_BETS, bet)
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()


def step_seconds(ledger: Ledger) -> tuple[float, float]:
    """The market step alone, and with the commit of what it did."""
    gc.collect()
    ledger.operations.clear()
    ledger.cursor.begin_block(ledger.head_number, ledger.now)
    ledger.cursor.end_transactions()
    started = process_time()
    with ledger.store.begin() as session:
        process_markets(ledger, empty_block(ledger))
        step = process_time() - started
        session.squash()
    ledger.store.commit()
    return step, process_time() - started


@contextmanager
def market_network() -> Iterator[Network]:
    """A network past hardfork 15."""
    with network() as net:
        while net.chain.last_hardfork < 15:
            net.produce()
        net.produce(2)
        yield net


def bench_rows(rows: int) -> None:
    """One market whose rows are exactly those of a block."""
    with market_network() as net:
        ledger = net.chain.parts.ledger
        while ledger.store.undoable:
            ledger.store.irreversible(ledger.store.revision)
        set_rows(ledger, rows)
        for work in works(ledger.now):
            write_market(net, work, rows // work.rows_a_bet)
            step, whole = step_seconds(ledger)
            cost = whole / rows / recovery_seconds()
            print(f"  {work.title:10} of {rows:7,} rows: {cost:5.2f} recoveries a row with its commit", end="")
            if rows == ROWS:
                print(f" ({verdict(cost, 1.0)}), step {step * 1000:6.1f} ms ({verdict(step, STEP_SECONDS)} s)")
            else:
                print(f", step {step * 1000:8.1f} ms")


def open_markets(net: Network, count: int) -> None:
    """Markets that take bets, each with liquidity of its creator and of the pool, and none with anything to do."""
    ledger, store = net.chain.parts.ledger, net.chain.parts.store
    now = ledger.now
    for number in range(count):
        market = PmMarket(
            creator=VIZ,
            oracle=VIZ,
            status=ACTIVE,
            created_time=now,
            betting_expiration=now + 10_000_000 + number,
            result_expiration=now + 20_000_000 + number,
            liquidity_sum=2 * LIQUIDITY,
        )
        market.reserve_a, market.reserve_b, market.k = opening_reserves(2 * LIQUIDITY)
        store.create(PM_MARKETS, market)
        for place in range(2):
            store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=place))
        store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, provider=VIZ, amount=LIQUIDITY, deposit_time=now))
        store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, amount=LIQUIDITY, deposit_time=now))
        allocation = PmLazyAllocation(
            market=market.id, amount=LIQUIDITY, original_amount=LIQUIDITY, last_check_time=now
        )
        store.create(PM_LAZY_ALLOCATIONS, allocation)
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()


def bench_open_markets() -> None:
    """Near-empty blocks beside few open markets and many, into a node that has them too."""
    seconds = []
    for count in (FEW, MANY):
        with market_network() as source, tempfile.TemporaryDirectory() as folder:
            first = source.chain.head_number + 1
            node = Network(Path(folder))
            node.follow(codec_of(Block).decode(packed) for packed in packed_blocks(source, 1)[: first - 1])
            for net in (source, node):
                open_markets(net, count)
            source.produce(BLOCKS)

            def push(block: Block, node: Network = node) -> None:
                node.chain.push_block(block, commit=False).or_raise()

            blocks = packed_blocks(source, first)
            replay_seconds(push, node.chain.commit, blocks[:20])
            gc.collect()
            seconds.append(replay_seconds(push, node.chain.commit, blocks[20:]) / (len(blocks) - 20))
            print(f"  a near-empty block beside {count:7,} open markets: {seconds[-1] * 1e6:6.0f} us")
            node.chain.close()
    growth = seconds[1] / seconds[0]
    print(f"  that is {growth:4.2f} times as much ({verdict(growth, GROWTH)})")


def main() -> None:
    """Print every figure."""
    bench_rows(ROWS)
    bench_rows(MOST_ROWS)
    bench_open_markets()
