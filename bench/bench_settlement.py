"""What the market step costs: rows of settlements, refunds and collections, and blocks beside many open markets.

Rows are written as if their bets had been made long ago, by accounts that all differ. A row's part in the durable
commit counts. Blocks beside many open markets and few are applied in turns, and compared by the median of the processor
time of their thread: see `bigmarkets` for the same with bets.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import process_time, thread_time

import msgspec

from bench.bench_chain import GROWTH, network, recovery_seconds, verdict
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.types.identifiers import NO_BLOCK, MerkleRoot
from tests.chain.crowded_settlements import ledger_of, open_markets, works, write_market
from tests.chain.networks import VIZ, Network

ROWS, MOST_ROWS = 2_000, 100_000
"""What a median says if nobody asks for more, and the most that one may say."""

STEP_SECONDS = 0.110
FEW, MANY = 10, 130_000
BLOCKS, BLOCKS_A_COMMIT = 100, 10


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
        ledger = ledger_of(net)
        set_rows(ledger, rows)
        for work in works(ledger.now):
            write_market(ledger, work, rows // work.rows_a_bet)
            step, whole = step_seconds(ledger)
            cost = whole / rows / recovery_seconds()
            print(f"  {work.title:10} of {rows:7,} rows: {cost:5.2f} recoveries a row with its commit", end="")
            if rows == ROWS:
                print(f" ({verdict(cost, 1.0)}), step {step * 1000:6.1f} ms ({verdict(step, STEP_SECONDS, 's')})")
            else:
                print(f", step {step * 1000:8.1f} ms")


def block_seconds(net: Network) -> float:
    """What decoding and applying a near-empty block takes; making it does not count."""
    packed = net.make().packed
    began = thread_time()
    net.chain.push_block(codec_of(Block).decode(packed), commit=False).or_raise()
    return thread_time() - began


def commit_seconds(net: Network) -> float:
    """What the commit of the blocks since the last one takes."""
    began = thread_time()
    net.chain.commit()
    return thread_time() - began


def show_growth(nets: Mapping[int, Network]) -> None:
    """Near-empty blocks on two networks, of few open markets and of many, in turns: what the many cost."""
    blocks: dict[int, list[float]] = {count: [] for count in nets}
    commits: dict[int, list[float]] = {count: [] for count in nets}
    for number in range(BLOCKS):
        for count in sorted(nets, reverse=number % 2 == 0):
            blocks[count].append(block_seconds(nets[count]))
            if number % BLOCKS_A_COMMIT == BLOCKS_A_COMMIT - 1:
                commits[count].append(commit_seconds(nets[count]))
    costs = []
    for count in sorted(nets):
        block, commit = median(blocks[count]), median(commits[count]) / BLOCKS_A_COMMIT
        costs.append(block + commit)
        print(f"  a near-empty block beside {count:7,} open markets: {costs[-1] * 1e6:5.0f} us, ", end="")
        print(f"{commit * 1e6:.0f} us of them its part of a commit; least {min(blocks[count]) * 1e6:.0f} us without")
    growth = costs[1] / costs[0]
    print(f"  that is {growth:4.2f} times as much ({verdict(growth, GROWTH)})")


def bench_open_markets() -> None:
    """Blocks beside few open markets and many, without bets on them."""
    with market_network() as few, market_network() as many:
        nets = {FEW: few, MANY: many}
        for count, net in nets.items():
            open_markets(net, count)
            net.produce(20)
        gc.collect()
        show_growth(nets)


def main() -> None:
    """Print every figure."""
    bench_rows(ROWS)
    bench_rows(MOST_ROWS)
    bench_open_markets()
