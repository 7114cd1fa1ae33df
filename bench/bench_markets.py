"""What markets cost: bets in full blocks, replayed with all checks on. Accounts and markets of a block all differ."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.bench_chain import TRANSFERS, network, packed_blocks, recovery_seconds, replay_seconds, users, verdict
from ledgerd.codec import codec_of
from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.block import Block
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.bets import PmPlaceBet
from ledgerd.state.objects.markets import ACTIVE, PM_MARKETS, PM_OUTCOMES, PmMarket, PmOutcome
from tests.chain.networks import VIZ, Network

BLOCKS = 12
LIQUIDITY, STAKE = 10_000_000, 1_000
LIMITS = {2: 5.0, 8: 7.0, 128: None}
"""The most that a bet may cost, in recoveries, by the number of outcomes; of the last it is only printed."""


def open_markets(net: Network, outcomes: int) -> None:
    """A market for each user, as if it had been opened long ago."""
    store = net.chain.store
    for _ in range(TRANSFERS):
        market = PmMarket(
            creator=VIZ,
            oracle=VIZ,
            outcome_count=outcomes,
            status=ACTIVE,
            created_time=net.chain.ledger.now,
            betting_expiration=net.chain.ledger.now + 100_000,
            result_expiration=net.chain.ledger.now + 200_000,
            liquidity_sum=LIQUIDITY,
            time_penalty_value=50_000,
        )
        if outcomes == 2:
            market.reserve_a, market.reserve_b, market.k = opening_reserves(LIQUIDITY)
        else:
            market.market_type, market.lmsr_b = 1, depth_of_liquidity(LIQUIDITY, outcomes)
        store.create(PM_MARKETS, market)
        for place in range(outcomes):
            store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=place, label=f"outcome {place}"))
    store.commit()


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
        while not source.chain.ledger.hardfork(15):
            source.produce()
        first = source.chain.head_number + 1
        node = Network(Path(folder))
        node.follow(codec_of(Block).decode(packed) for packed in packed_blocks(source, 1)[: first - 1])
        for net in (source, node):
            open_markets(net, outcomes)
        for round_ in range(BLOCKS):
            send_bets(source, names, outcomes, round_)
            source.produce()

        def push(block: Block) -> None:
            node.chain.push_block(block, commit=False)

        blocks = packed_blocks(source, first)
        replay_seconds(push, node.chain.commit, blocks[:2])
        seconds = replay_seconds(push, node.chain.commit, blocks[2:])
        cost = seconds / (len(blocks) - 2) / TRANSFERS / recovery_seconds()
        limit = LIMITS[outcomes]
        print(f"  a bet on one of {outcomes:3} outcomes, in blocks of {TRANSFERS}: {cost:5.2f} recoveries", end="")
        print("" if limit is None else f" ({verdict(cost, limit)})")
        node.chain.close()


def main() -> None:
    """Print every figure."""
    for outcomes in LIMITS:
        bench_bets(outcomes)
