"""A data directory of the version before hardfork 14 goes on: the states are those of a chain that never knew it."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.chain.chain import STATE_FOLDER, Chain
from ledgerd.chain.offline.invariants import check
from ledgerd.state.errors import StoreOutdated
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts import ACCOUNT_BY_AUCTION_START
from ledgerd.state.reader import StateReader
from tests.chain.former_states import former_directory
from tests.chain.recorded_chains import advance, difference_from, open_chain, recorded_state
from tests.chain.replays import open_replayed
from tests.chain.same_state import assert_same_state
from tests.house.source_tree import ROOT

WITH_AUCTIONS, STOPPED = "open-2-60", "open-main15-314"
"""The second was stopped by the block of hardfork 14, which its program did not know."""


def chains(folder: Path, name: str) -> tuple[Chain, Chain]:
    """The chain of a former directory, and one that was replayed up to its head."""
    chain_name = name.rsplit("-", 1)[0]
    former = open_chain(chain_name, former_directory(folder / "former", name))
    replayed = open_replayed(chain_name, former.head_number, folder / "replayed")
    return former, replayed


def test_auctions_of_a_former_state_end_as_they_would_have(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Four of its six auctions began at the same time."""
    caplog.set_level(logging.INFO)
    former, replayed = chains(tmp_path, WITH_AUCTIONS)
    with former, replayed:
        on_auction = list(former.parts.store.scan(ACCOUNT_BY_AUCTION_START, lower=(True,)))
        assert len(on_auction) > len({each.account_on_sale_start_time for each in on_auction}) > 1
        assert_same_state(former, replayed)
        assert check(former) == []
        for height in (120, 330):
            for chain in (former, replayed):
                advance(chain, "open-2", height)
            assert_same_state(former, replayed)
            assert difference_from(recorded_state("open-2", height), former) is None
    assert "Account: 23 of 23 converted" in caplog.text


def test_blocks_of_a_former_state_can_be_taken_back(tmp_path: Path) -> None:
    """What its journal remembers is converted too."""
    former, replayed = chains(tmp_path, STOPPED)
    with former, replayed:
        assert check(former) == []
        undoable = former.parts.store.undoable
        assert former.head_number - former.irreversible == undoable > 10
        for _ in range(undoable):
            former.pop_block()
            replayed.pop_block()
            assert_same_state(former, replayed)
        assert check(former) == []


def test_a_state_stopped_by_an_unknown_hardfork_takes_its_block(tmp_path: Path) -> None:
    folder = former_directory(tmp_path, STOPPED)
    with open_chain("open-main15", folder) as chain:
        assert difference_from(recorded_state("open-main15", 314), chain) is None
        advance(chain, "open-main15", 315)
        assert difference_from(recorded_state("open-main15", 315), chain) is None
        assert check(chain) == []
    with open_chain("open-main15", folder) as chain:
        chain.pop_block()
        chain.pop_block()
        advance(chain, "open-main15", 315)
    with open_chain("open-main15", folder) as chain:  # without the transactions that waited for a block again
        assert difference_from(recorded_state("open-main15", 315), chain) is None


@pytest.mark.parametrize(("commits", "moment"), [(2, "after"), (4, "before"), (9, "after"), (20, "before")])
def test_a_conversion_that_was_killed_goes_on(tmp_path: Path, commits: int, moment: str) -> None:
    folder = former_directory(tmp_path / "killed", STOPPED)
    state = folder / STATE_FOLDER
    words = [sys.executable, "-m", "tests.chain.former_states", state, 7, commits, moment]
    killed = subprocess.run([str(word) for word in words], cwd=ROOT, check=False)  # noqa: S603 - ourselves
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(StoreOutdated):
        StateReader.open(state, STORED_TABLES)

    whole = former_directory(tmp_path / "whole", STOPPED)
    with open_chain("open-main15", folder) as resumed, open_chain("open-main15", whole) as unbroken:
        for _ in range(3):
            assert_same_state(resumed, unbroken)
            resumed.pop_block()
            unbroken.pop_block()
        assert check(resumed) == []


def test_a_reader_refuses_a_former_state(tmp_path: Path) -> None:
    folder = former_directory(tmp_path, WITH_AUCTIONS) / STATE_FOLDER
    with pytest.raises(StoreOutdated, match="start the node, which converts"):
        StateReader.open(folder, STORED_TABLES)
    open_chain("open-2", tmp_path).close()
    StateReader.open(folder, STORED_TABLES).close()
