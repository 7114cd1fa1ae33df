"""What records of markets cost the chain's thread: the same blocks by turns into two nodes, one of which keeps them.

Processor time of the thread, medians of five turns. A turn is sixteen blocks, so that what is done every sixteen blocks
is in each. Blocks of 500 bets are applied and committed as live ones are, with all checks; the other figure is a replay
of a recorded chain. At last, how fast `ledgerd markets rebuild` goes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from time import monotonic, thread_time

from bench.bench_chain import network, packed_blocks, replay_seconds, users, verdict
from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import Skip
from ledgerd.codec import codec_of
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.options.application import PREDICTION_MARKET_API
from ledgerd.node.datadir.market_rebuild import replay_beside
from ledgerd.projections.following import follow
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.tables.market_records import POINTS_MOVED_AFTER
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.crowded_markets import open_markets
from tests.chain.networks import Network
from tests.chain.recorded_chains import network_of, open_chain
from tests.recorded import recorded_blocks

TURNS = 5
BETS = 500
PERCENT = 5.0
STAKE = 1_000
RECORDED = "open-pm"
EMPTY_BLOCKS, BLOCKS_A_SECOND = 3_000, 2_000


def send_bets(net: Network, names: list[AccountName], markets: int, round_: int) -> None:
    """Five hundred bets of a hundred users."""
    for number in range(BETS):
        name = names[number % len(names)]
        stake = tokens(STAKE + number + round_)
        net.send(PmPlaceBet(name, number % markets, round_ % 2, -1, stake, 0, 0, ()), key=net.keys[name])


def bench_block(markets: int) -> None:
    """Full blocks into a node that keeps records and one that does not."""
    with network() as source, tempfile.TemporaryDirectory() as folder:
        names = users(source)
        while source.chain.last_hardfork < 15:
            source.produce()
        before = packed_blocks(source, 1)
        nodes = [Network(Path(folder) / name) for name in ("off", "on")]
        follow(nodes[1].chain, [MarketRecords()])
        for node in nodes:
            node.follow(codec_of(Block).decode(packed) for packed in before)
        for net in (source, *nodes):
            open_markets(net, 2, markets)
        spent: list[list[float]] = [[0.0] * (TURNS + 1) for _ in nodes]
        for turn in range(TURNS + 1):  # the first one is not counted
            for round_ in range(turn * POINTS_MOVED_AFTER, (turn + 1) * POINTS_MOVED_AFTER):
                send_bets(source, names, markets, round_)
                (made,) = source.produce()
                if len(made.transactions) != BETS:
                    raise RuntimeError(f"a block has {len(made.transactions)} bets")
                for node, seconds in zip(nodes, spent, strict=True):
                    seconds[turn] += push_seconds(node, made.packed)
        blocks = [[each / POINTS_MOVED_AFTER for each in seconds[1:]] for seconds in spent]
        show(f"a block of {BETS} bets on {markets} markets", blocks)
        for node in nodes:
            node.chain.close()


def push_seconds(node: Network, packed: bytes) -> float:
    """How long a node takes to apply a block and to make it durable."""
    block = codec_of(Block).decode(packed)
    began = thread_time()
    node.chain.push_block(block).or_raise()
    return thread_time() - began


def show(title: str, spent: list[list[float]]) -> None:
    """Both medians, and how much the second is above the first."""
    off, on = map(median, spent)
    percent = (on / off - 1) * 100
    print(f"  {title}: {off * 1e3:7.1f} ms off, {on * 1e3:7.1f} ms on, {percent:+5.1f} %", end="")
    print(f" ({verdict(percent, PERCENT, '%')})")


def replayed(*, keeps: bool) -> float:
    """A recorded chain from the first block to the last, with all checks that its recording allows."""
    with tempfile.TemporaryDirectory() as folder, open_chain(RECORDED, Path(folder)) as chain:
        if keeps:
            follow(chain, [MarketRecords()])
        return replay_seconds(chain, list(recorded_blocks(RECORDED)), Skip.TRANSACTION_DUPES)


def bench_recorded() -> None:
    """A recorded chain of markets."""
    replayed(keeps=True)
    spent: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for keeps, seconds in zip((False, True), spent, strict=True):
            seconds.append(replayed(keeps=keeps))
    show(f"a replay of {RECORDED}", spent)


def rebuild_rate(folder: Path, network_: ChainParameters, blocks: Iterable[bytes]) -> float:
    """Blocks a second of processor time, of a chain that has these blocks."""
    data = folder / "data"
    given = {"data-dir": [str(data)], "plugin": [PREDICTION_MARKET_API]}
    with Chain.open(data, network_, clock=monotonic) as chain:
        for packed in blocks:
            chain.push_block(codec_of(Block).decode(packed), Skip.TRANSACTION_DUPES, commit=False).or_raise()
        chain.commit()
        configuration = read_configuration(given, data)
        began = thread_time()
        return replay_beside(chain, data, configuration) / (thread_time() - began)


def bench_rebuild() -> None:
    """Near-empty blocks, as most blocks of the network are, and a chain that does little but markets."""
    with network() as source, tempfile.TemporaryDirectory() as folder:
        while source.chain.head_number < EMPTY_BLOCKS:
            source.produce()
        rate = rebuild_rate(Path(folder), source.chain.network, packed_blocks(source, 1))
    print(f"  rebuild of near-empty blocks: {rate:,.0f} blocks/s ({verdict(rate, BLOCKS_A_SECOND, at_most=False)})")
    with tempfile.TemporaryDirectory() as folder:
        rate = rebuild_rate(Path(folder), network_of(RECORDED), recorded_blocks(RECORDED))
    print(f"  rebuild of {RECORDED}, three operations of markets in each block: {rate:,.0f} blocks/s")


def main() -> None:
    """Print every figure."""
    for markets in (100, BETS):
        bench_block(markets)
    bench_recorded()
    bench_rebuild()


if __name__ == "__main__":
    main()
