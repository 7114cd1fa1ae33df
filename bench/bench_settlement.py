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

import msgspec

from bench.bench_chain import GROWTH, network, packed_blocks, recovery_seconds, replay_seconds, verdict
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.codec import codec_of
from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import NO_BLOCK, MerkleRoot
from ledgerd.protocol.signatures import Signature
from tests.chain.crowded_settlements import ledger_of, open_markets, works, write_market
from tests.chain.networks import VIZ, Network

ROWS, MOST_ROWS = 2_000, 100_000
"""What a median says if nobody asks for more, and the most that one may say."""

STEP_SECONDS = 0.110
FEW, MANY = 10, 130_000
BLOCKS = 300


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
                print(f" ({verdict(cost, 1.0)}), step {step * 1000:6.1f} ms ({verdict(step, STEP_SECONDS)} s)")
            else:
                print(f", step {step * 1000:8.1f} ms")


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
