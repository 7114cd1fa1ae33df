"""Where the state comes from: every case of the decision (spec 06, section 8.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.options.invocation import Invocation
from ledgerd.node.datadir.origin import Choice, Found, StateOrigin, choose, choose_after
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StoreCorrupt
from tests.node.configurations import problems

NOTHING = Found(Path("data/state"), has_state=False, head=0, log_head=0)
FULL = NOTHING._replace(has_state=True, head=105, log_head=100)
"""A node that has always had every block: the state is ahead of the log by what may still be taken back."""
ROLLING = NOTHING._replace(has_state=True, head=105)
"""A node that began with a snapshot."""


@pytest.fixture
def asked(tmp_path: Path) -> Invocation:
    return read_configuration({"data-dir": [str(tmp_path)]}, tmp_path).invocation


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot-block-90.vizjson"
    path.touch()
    return path


@pytest.mark.parametrize("found", [NOTHING, FULL, ROLLING])
def test_without_options_the_present_state_is_used(asked: Invocation, found: Found) -> None:
    assert choose(asked, found) == Choice(StateOrigin.PRESENT)


def test_a_log_without_a_state_is_replayed_into_a_new_one(asked: Invocation) -> None:
    assert choose(asked, NOTHING._replace(log_head=100)) == Choice(StateOrigin.PRESENT)


def test_a_replay_begins_with_the_first_block(asked: Invocation) -> None:
    assert choose(replace(asked, replay_blockchain=True), FULL) == Choice(StateOrigin.BLOCK_LOG)


def test_a_replay_that_was_stopped_goes_on_unless_it_is_forced_to_begin_anew(asked: Invocation) -> None:
    stopped = FULL._replace(head=40)
    again = replace(asked, replay_blockchain=True)

    assert choose(asked, stopped) == choose(again, stopped) == Choice(StateOrigin.PRESENT)
    assert choose(replace(again, force_replay_blockchain=True), stopped) == Choice(StateOrigin.BLOCK_LOG)


def test_force_needs_a_cause_to_replay(asked: Invocation) -> None:
    forced = replace(asked, force_replay_blockchain=True)

    assert choose(forced, FULL) == Choice(StateOrigin.PRESENT)
    assert choose(forced, FULL._replace(head=40)) == Choice(StateOrigin.BLOCK_LOG)


def test_a_replay_that_would_lose_the_state_is_refused(asked: Invocation) -> None:
    with pytest.raises(OperatorError, match=r"there is no block log in data/state.*the state would be lost"):
        choose(replace(asked, replay_blockchain=True), ROLLING)


def test_a_replay_without_log_and_state_gives_a_warning(asked: Invocation) -> None:
    choice = choose(replace(asked, replay_blockchain=True), NOTHING)

    assert choice.origin is StateOrigin.PRESENT
    assert "no block log" in choice.remark


def test_a_snapshot_is_imported_where_there_is_no_state(asked: Invocation, snapshot: Path) -> None:
    assert choose(replace(asked, snapshot=snapshot), NOTHING) == Choice(StateOrigin.SNAPSHOT, snapshot)
    latest = replace(asked, snapshot_auto_latest=True)
    assert choose(latest, NOTHING._replace(newest=snapshot)) == Choice(StateOrigin.SNAPSHOT, snapshot)


def test_a_snapshot_is_not_imported_over_a_state(asked: Invocation, snapshot: Path) -> None:
    choice = choose(replace(asked, snapshot=snapshot), FULL)

    assert (choice.origin, choice.snapshot) == (StateOrigin.PRESENT, None)
    assert choice.remark == f"there is a state already, so the snapshot {snapshot} is not imported"


def test_a_snapshot_that_is_missing_is_remarked(asked: Invocation, tmp_path: Path) -> None:
    choice = choose(replace(asked, snapshot=tmp_path / "none"), NOTHING)
    assert choice.origin is StateOrigin.PRESENT
    assert choice.remark.startswith(f"--snapshot: there is no file {tmp_path / 'none'}: the node goes on without it")

    choice = choose(replace(asked, snapshot_auto_latest=True), NOTHING)
    assert choice == Choice(StateOrigin.PRESENT, remark="--snapshot-auto-latest finds no snapshot in snapshot-dir")


def test_a_rebuild_takes_the_place_of_a_state(asked: Invocation, snapshot: Path) -> None:
    named = replace(asked, replay_from_snapshot=True, snapshot=snapshot)
    latest = replace(asked, replay_from_snapshot=True, snapshot_auto_latest=True)

    assert choose(named, ROLLING) == Choice(StateOrigin.REBUILD, snapshot)
    assert choose(latest, ROLLING._replace(newest=snapshot)) == Choice(StateOrigin.REBUILD, snapshot)


def test_a_rebuild_without_its_snapshot_ends_the_start(asked: Invocation, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="finds no snapshot"):
        choose(replace(asked, replay_from_snapshot=True, snapshot_auto_latest=True), ROLLING)
    with pytest.raises(OperatorError, match=r"there is no snapshot .*none"):
        choose(replace(asked, replay_from_snapshot=True, snapshot=tmp_path / "none"), ROLLING)


# -- a state that cannot be used

DAMAGE = StoreCorrupt("the state is damaged")


def test_a_damaged_state_is_made_anew_from_a_snapshot_or_else_from_the_log(asked: Invocation, snapshot: Path) -> None:
    with_snapshot = FULL._replace(usable=snapshot)

    choice = choose_after(DAMAGE, asked, with_snapshot)
    assert (choice.origin, choice.snapshot) == (StateOrigin.REBUILD, snapshot)
    without = replace(asked, auto_recover_from_snapshot=False)
    assert choose_after(DAMAGE, without, with_snapshot).origin is StateOrigin.BLOCK_LOG
    assert choose_after(DAMAGE, asked, FULL).origin is StateOrigin.BLOCK_LOG


def test_a_damaged_state_is_kept_where_nothing_makes_it_anew(asked: Invocation) -> None:
    for words, found in ((asked, ROLLING), (replace(asked, replay_if_corrupted=False), FULL)):
        with pytest.raises(OperatorError, match=r"the state is damaged\..*--resync-blockchain") as refused:
            choose_after(DAMAGE, words, found)
        assert refused.value.__cause__ is DAMAGE


# -- what cannot stand together, and which snapshot is the newest


def test_what_deletes_the_log_cannot_stand_beside_what_reads_it(tmp_path: Path) -> None:
    found = problems(tmp_path, "", resync_blockchain=("true",), replay_blockchain=("true",))

    assert found == [
        "command line: replay-blockchain cannot stand beside --resync-blockchain, which deletes the block log"
    ]
