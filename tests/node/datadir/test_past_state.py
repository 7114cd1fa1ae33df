"""The state at a past block is the recorded one, and that of a chain which was replayed up to there, whatever it was
made from, and however often the making was interrupted.

A usual run looks at three heights of each chain; `EVERY_CHAIN=1 scripts/test tests/node/datadir/test_past_state.py` at
all twenty.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.codec import codec_of
from ledgerd.node.datadir.past_state import UNFINISHED
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import lock_writer
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from tests.archive.files import without_past, write_archive
from tests.chain.recorded_chains import (
    MARKET_STATES,
    STATES,
    advance,
    difference_from,
    exported_state,
    open_chain,
    recorded_state,
)
from tests.chain.replays import copy_replayed, open_replayed
from tests.node.datadir.past_directories import (
    ARCHIVE,
    Interrupted,
    interrupted,
    keep_snapshot,
    made,
    past_of,
    unfinished,
    written,
)
from tests.recorded import recorded_blocks

RECORDED = {"open-1": STATES["open-1"], "open-pm": MARKET_STATES["open-pm"]}
SNAPSHOTS: dict[str, tuple[int, ...]] = {"open-1": (), "open-pm": (60, 300, 700, 1200)}
"""Those of the other chain lack what the hardforks to come ask for: a node that begins with them goes another way."""
HEIGHTS = {
    "open-1": (1, 14, 15, 77, 120, 200, 260, 333, 444, 500, 555, 600, 661, 700, 800, 888, 1000, 1200, 1800, 2718),
    "open-pm": (
        *(1, 13, 14, 15, 16, 60, 121, 250, 300, 361, 500, 699, 700, 761, 1000),
        *(1200, 1261, 1600, 1900, 2027),
    ),
}
"""Those of the recorded states, one after each, and others."""
LOOKED_AT = HEIGHTS if "EVERY_CHAIN" in os.environ else {"open-1": (1, 200, 260), "open-pm": (16, 300, 1261)}

SETTLED = 60
"""So many blocks after a snapshot, a later block than its own is irreversible in these chains."""


def accounts_in(folder: Path, name: str) -> list[bytes]:
    with open_chain(name, folder) as chain:
        codec = codec_of(ACCOUNTS.record)
        return [codec.encode(account) for account in chain.state.scan(ACCOUNTS)]


@pytest.mark.parametrize("name", RECORDED)
def test_the_state_at_a_height_is_the_recorded_and_the_replayed_one(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copy_replayed(name, HEIGHTS[name][-1], data)
    (data / STATE_FOLDER / "lock.mdb").unlink(missing_ok=True)
    for height in SNAPSHOTS[name]:
        keep_snapshot(name, data, height)
    before = written(data)
    assert len(HEIGHTS[name]) == 20
    for height in LOOKED_AT[name]:
        target = tmp_path / str(height)
        with open_replayed(name, height, tmp_path / f"replayed {height}") as chain:
            begun = max((each for each in SNAPSHOTS[name] if each <= height), default=0)
            is_near = begun > 0 and height - begun < SETTLED
            result = made(name, data, height, target, with_genesis=is_near)
            assert (result.block_id, result.irreversible) == (chain.head_id.hex(), chain.irreversible)
            assert not result.is_trusted_head
            with open_chain(name, target) as past:
                assert exported_state(past, height + 2) == exported_state(chain, height + 2), height
                if height in RECORDED[name]:
                    found = difference_from(recorded_state(name, height), past, f"{name} at {height}: ")
                    assert found is None, found
        shutil.rmtree(target)
    assert written(data) == before, "nothing is written there"


def test_a_state_from_the_first_block_on_has_every_field_of_every_account(tmp_path: Path) -> None:
    data, replayed = tmp_path / "data", tmp_path / "replayed"
    copy_replayed("open-1", 1200, data)
    copy_replayed("open-1", 260, replayed)
    keep_snapshot("open-1", data, 200)
    made("open-1", data, 260, tmp_path / "near")
    made("open-1", data, 260, tmp_path / "far", with_genesis=True)
    assert accounts_in(tmp_path / "far", "open-1") == accounts_in(replayed, "open-1")
    assert accounts_in(tmp_path / "near", "open-1") != accounts_in(replayed, "open-1"), "snapshots leave out fields"


def test_blocks_come_from_the_archive_the_log_and_the_state(tmp_path: Path) -> None:
    data, replayed = tmp_path / "data", tmp_path / "replayed"
    without_past(data, "open-main", 900, 421)
    write_archive(data / ARCHIVE, recorded_blocks("open-main")[:500], 100)
    copy_replayed("open-main", 899, replayed)
    made("open-main", data, 899, tmp_path / "out")
    assert accounts_in(tmp_path / "out", "open-main") == accounts_in(replayed, "open-main")


def test_what_is_missing_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    data = tmp_path / "data"
    without_past(data, "open-main", 900, 421)
    write_archive(data / ARCHIVE, recorded_blocks("open-main")[:220], 100)
    shutil.rmtree(data / ARCHIVE / "partial", ignore_errors=True)
    with pytest.raises(OperatorError, match=r"begin after block 0, and blocks 200 to 420 are in neither") as told:
        made("open-main", data, 500, tmp_path / "out")
    assert "or give a snapshot of a block from 420 to 500 with --snapshot" in str(told.value)
    with pytest.raises(
        OperatorError, match=r"blocks 200 to 300 are in neither .* or give a snapshot of block 300 with"
    ):
        made("open-main", data, 300, tmp_path / "out")
    keep_snapshot("open-main", data, 480)
    made("open-main", data, 540, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    keep_snapshot("open-main", data, 40)
    for file in (data / ARCHIVE).glob("blocks-0000000001-*"):
        file.unlink()
    with pytest.raises(
        OperatorError, match=r"state-?.*40.vizjson, is of block 40, and block.* 41 to 99, blocks 200 to 300"
    ):
        made("open-main", data, 300, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (0, "the first block of a chain is block 1"),
        (-5, "the first block of a chain is block 1"),
        (618, "ends at block 617: block 618 is not there"),
        (1 << 40, "ends at block 617"),
    ],
)
def test_a_block_outside_of_the_chain_is_refused(at: int, said: str, tmp_path: Path) -> None:
    copy_replayed("open-2", 617, tmp_path / "data")
    with pytest.raises(OperatorError, match=said):
        made("open-2", tmp_path / "data", at, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_snapshot_of_no_use_is_passed_over_and_a_given_one_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    copy_replayed("open-2", 617, data)
    keep_snapshot("open-2", data, 120)
    damaged = keep_snapshot("open-2", data, 330)
    damaged.write_bytes(damaged.read_bytes()[:-100])
    other = keep_snapshot("open-1", data, 200)
    for given, said in ((damaged, "is of no use here"), (other, "and that of this chain another")):
        with pytest.raises(OperatorError, match=said):
            made("open-2", data, 400, tmp_path / "out", given)
    with pytest.raises(OperatorError, match="it is of a block after block 119"):
        made("open-2", data, 119, tmp_path / "out", data / "snapshots" / "snapshot-block-120.vizjson")
    result = made("open-2", data, 400, tmp_path / "out")
    assert caplog.text.count("is of no use") == 2
    assert result.irreversible > 330


def test_right_behind_a_snapshot_its_own_block_is_the_last_irreversible_one(tmp_path: Path) -> None:
    copy_replayed("open-2", 617, tmp_path / "data")
    path = keep_snapshot("open-2", tmp_path / "data", 330)
    assert made("open-2", tmp_path / "data", 330, tmp_path / "out", path)[1:] == (330, True)


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.chain.offline.replay.BLOCKS_A_COMMIT", 100)
    data, replayed, target = tmp_path / "data", tmp_path / "replayed", tmp_path / "out"
    copy_replayed("open-2", 617, data)
    copy_replayed("open-2", 616, replayed)
    seen: list[int] = []

    def stop(height: int) -> None:
        seen.append(height)
        if height == 300:
            raise Interrupted

    with past_of("open-2", data, 616, target) as past:
        assert past.begin() == 0
        with pytest.raises(Interrupted):
            past.replay(stop)
    assert not target.exists()
    with past_of("open-2", data, 616, target) as past:
        assert past.begin() == 300
        past.replay(seen.append)
    assert seen == [0, 100, 200, 300, 300, 400, 500, 600, 616]
    assert accounts_in(target, "open-2") == accounts_in(replayed, "open-2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "replayed"]


def test_a_run_for_another_block_begins_again_unless_the_first_one_still_works(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "out"
    copy_replayed("open-2", 617, data)
    interrupted("open-2", data, 616, target)
    with lock_writer(target.with_name("out" + UNFINISHED) / STATE_FOLDER), pytest.raises(StoreLocked):
        made("open-2", data, 100, target)
    assert made("open-2", data, 100, target).block_id.startswith(f"{100:08x}")


def test_what_is_in_the_way_is_left_alone(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "out"
    copy_replayed("open-2", 617, data)
    target.mkdir()
    with pytest.raises(OperatorError, match="exists already"):
        made("open-2", data, 100, target)
    target.rmdir()
    mine = tmp_path / f"out{UNFINISHED}"
    mine.mkdir()
    (mine / "letter").touch()
    with pytest.raises(OperatorError, match="was not made by this command"):
        made("open-2", data, 100, target)
    assert (mine / "letter").exists()


def test_blocks_that_the_node_has_undone_meanwhile_are_undone_here_too(tmp_path: Path) -> None:
    """The run was interrupted on a branch that the node has left since."""
    data, target = tmp_path / "data", tmp_path / "out"
    copy_replayed("open-main", 900, data)
    interrupted("open-main", data, 880, target)
    with unfinished("open-main", target) as chain:
        advance(chain, "open-main", 540)
        assert chain.irreversible < 539
    with past_of("open-main", data, 880, target, left=range(1000)) as past:
        assert past.begin() == 540
        with pytest.raises(OperatorError, match="is of another chain: remove it"):
            past.replay()
    with unfinished("open-main", target) as chain:
        advance(chain, "open-main", 540)
    heights: list[int] = []
    with past_of("open-main", data, 880, target, left=(540,)) as past:
        past.begin()
        past.replay(heights.append)
    assert (heights[0], heights[-1]) == (539, 880)
    copy_replayed("open-main", 880, tmp_path / "replayed")
    assert accounts_in(target, "open-main") == accounts_in(tmp_path / "replayed", "open-main")


def test_a_snapshot_is_written_instead_of_a_directory(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "state.vizjson"
    copy_replayed("open-2", 617, data)
    made("open-2", data, 330, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "state.vizjson"]
    made("open-2", data, 617, tmp_path / "out", target)
    replayed = tmp_path / "replayed"
    copy_replayed("open-2", 617, replayed)
    with open_chain("open-2", tmp_path / "out") as past, open_chain("open-2", replayed) as chain:
        assert exported_state(past, 619) == exported_state(chain, 619)
