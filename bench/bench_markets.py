"""What markets cost: bets in full blocks, replayed with all checks on. Accounts and markets of a block all differ."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bench_chain import TRANSFERS, network, packed_blocks, recovery_seconds, replay_seconds, users, verdict
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.chain.crowded_markets import open_markets
from tests.chain.networks import Network

BLOCKS = 12
STAKE = 1_000
LIMITS = {2: 5.0, 8: 7.0, 128: None}
"""The most that a bet may cost, in recoveries, by the number of outcomes; of the last it is only printed."""


def send_bets(net: Network, names: list[AccountName], outcomes: int, round_: int) -> None:
    """A bet of each user on its market, each round on another outcome."""
    for market, name in enumerate(names):
        side, place = (round_ % 2, -1) if outcomes == 2 else (-1, (market + round_ * 37) % outcomes)
        stake = tokens(STAKE + 7 * market + round_)
        net.send(PmPlaceBet(name, market, side, place, stake, 0, 0, ()), key=net.keys[name])


def bench_bets(outcomes: int) -> None:
    """Blocks of bets into another node."""
    with network() as source, tempfile.TemporaryDirectory() as folder:
        names = users(source)
        while source.chain.last_hardfork < 15:
            source.produce()
        first = source.chain.head_number + 1
        node = Network(Path(folder))
        node.follow(codec_of(Block).decode(packed) for packed in packed_blocks(source, 1)[: first - 1])
        for net in (source, node):
            open_markets(net, outcomes, TRANSFERS)
        for round_ in range(BLOCKS):
            send_bets(source, names, outcomes, round_)
            source.produce()

        blocks = packed_blocks(source, first)
        replay_seconds(node.chain, blocks[:2])
        seconds = replay_seconds(node.chain, blocks[2:])
        cost = seconds / (len(blocks) - 2) / TRANSFERS / recovery_seconds()
        limit = LIMITS[outcomes]
        print(f"  a bet on one of {outcomes:3} outcomes, in blocks of {TRANSFERS}: {cost:5.2f} recoveries", end="")
        print("" if limit is None else f" ({verdict(cost, limit)})")
        node.chain.close()


def main() -> None:
    """Print every figure."""
    for outcomes in LIMITS:
        bench_bets(outcomes)
