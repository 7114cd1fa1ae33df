"""What is kept of markets follows the chain: over forks, after kills, and with the plugin off for a while."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.codec import codec_of
from ledgerd.projections.following import follow, leave, projections_of
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.projections.tables.market_records import (
    PM_KLINE_CHUNKS,
    PM_LABEL_COUNTS,
    PM_MARKET_META,
    PM_OPEN_BOOKS,
    PM_PLACED_MARKETS,
    PM_RECENT_POINTS,
    PM_RECORDS_SINCE,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.objects.markets.markets import ACTIVE, PM_MARKETS
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View
from tests.chain.recorded_chains import LIKE_THE_RECORDING, advance, open_chain
from tests.recorded import recorded_blocks

NAME = "open-pm2"
HEIGHT = 463
BLOCKS_A_COMMIT = 25
ROOT = Path(__file__).parents[3]
FORKED = "open-main15"
"""A chain of many validators, whose last blocks may be undone."""
TABLES: tuple[Table[Any], ...] = (
    *(PM_MARKET_META, PM_KLINE_CHUNKS, PM_RECENT_POINTS, PM_LABEL_COUNTS, PM_OPEN_BOOKS),
    *(PM_PLACED_MARKETS, PM_RECORDS_SINCE),
)


@contextmanager
def followed(folder: Path, name: str = NAME) -> Iterator[Chain]:
    folder.mkdir(exist_ok=True)
    with open_chain(name, folder) as chain:
        follow(chain, [MarketRecords()])
        yield chain


def kept(chain: Chain) -> list[list[str]]:
    """All that is kept, as it is stored."""
    return [[repr(each) for each in kept_of(chain).scan(table)] for table in TABLES]


def kept_of(chain: Chain) -> View:
    found = projections_of(chain)
    assert found is not None
    return found


def test_what_is_undone_and_applied_again_is_kept_as_if_nothing_had_been(tmp_path: Path) -> None:
    with followed(tmp_path, FORKED) as chain:
        advance(chain, FORKED, 480)
        before = {chain.head_number: kept(chain)}
        for height in range(481, 496):
            advance(chain, FORKED, height)
            before[height] = kept(chain)
        irreversible = chain.irreversible
        while chain.head_number > max(irreversible, 480):
            chain.pop_block()
            assert kept(chain) == before[chain.head_number]
        assert chain.head_number < 490
        advance(chain, FORKED, 495)
        assert kept(chain) == before[495]
        assert all(before[495])
        assert before[495] != before[chain.head_number - 15]


def test_what_is_not_committed_is_lost_with_its_blocks(tmp_path: Path) -> None:
    with followed(tmp_path / "straight") as chain:
        advance(chain, NAME, 150)
        straight = kept(chain)
    with followed(tmp_path / "killed") as chain:
        advance(chain, NAME, 100)
        for packed in recorded_blocks(NAME)[100:120]:
            chain.push_block(codec_of(Block).decode(packed), LIKE_THE_RECORDING, commit=False).or_raise()
    with followed(tmp_path / "killed") as chain:
        assert chain.head_number == 100
        advance(chain, NAME, 150)
        assert kept(chain) == straight


def test_a_process_that_is_killed_leaves_what_a_replay_to_its_block_keeps(tmp_path: Path) -> None:
    """Killed three times, each as soon as it tells of the next blocks: most come between two commits."""
    folder, reached = tmp_path / "killed", 0
    folder.mkdir()
    for _ in range(3):
        words = [
            sys.executable,
            "-m",
            "tests.projections.markets.victim",
            NAME,
            str(folder),
            str(BLOCKS_A_COMMIT),
        ]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as victim:  # noqa: S603 - ourselves
            assert victim.stdout is not None
            told = [int(victim.stdout.readline()) for _ in range(2 * BLOCKS_A_COMMIT + 5)]
            victim.kill()
        assert victim.returncode == -signal.SIGKILL
        with followed(folder) as chain:
            assert max(reached, told[-1] - BLOCKS_A_COMMIT) <= chain.head_number
            reached = chain.head_number
            with followed(tmp_path / f"straight-{reached}") as straight:
                advance(straight, NAME, reached)
                assert kept(straight) == kept(chain)
                assert all(kept(chain)[:2])
    assert reached < HEIGHT


def test_the_open_books_of_oracles_are_what_their_open_markets_say(tmp_path: Path) -> None:
    with followed(tmp_path) as chain:
        for height in range(40, 320, 40):
            advance(chain, NAME, height)
            store, sums = chain.parts.store, dict[str, int]()
            for market in store.scan(PM_MARKETS):
                if market.status == ACTIVE and market.bets_sum:
                    sums[market.oracle] = sums.get(market.oracle, 0) + market.bets_sum
            assert {each.oracle: each.bets_sum for each in kept_of(chain).scan(PM_OPEN_BOOKS)} == sums
        assert sums


def test_records_say_since_when_they_are_complete(tmp_path: Path) -> None:
    def since(chain: Chain) -> int:
        return kept_of(chain).get(PM_RECORDS_SINCE, 0).block

    with followed(tmp_path) as chain:
        advance(chain, NAME, 60)
        assert since(chain) == 1
    with open_chain(NAME, tmp_path) as chain:
        leave(chain)
        advance(chain, NAME, 80)
    with followed(tmp_path) as chain:
        advance(chain, NAME, 100)
        assert since(chain) == 81
        books = {each.oracle: each.bets_sum for each in kept_of(chain).scan(PM_OPEN_BOOKS)}
    with followed(tmp_path / "whole") as chain:
        advance(chain, NAME, 100)
        assert books == {each.oracle: each.bets_sum for each in kept_of(chain).scan(PM_OPEN_BOOKS)}
