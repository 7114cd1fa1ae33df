"""The process beside the node: it writes and imports snapshots, says why it cannot, and ends with the node."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.offline.invariants import STATE_CHECKS
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.container import HEADER_KEY, LARGEST_TEXT, LEVEL, STATE_KEY, STREAM_HEAD
from ledgerd.snapshot.file.directory import name_of
from ledgerd.snapshot.file.export import VERSION
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.job import Audit, Compare, Done, Export, Import, JobOrder, carry_out
from ledgerd.snapshot.importing.jobs import done
from ledgerd.snapshot.settings import Terms
from ledgerd.state import StateReader
from ledgerd.state.objects import STORED_TABLES
from tests.chain.networks import SMALL
from tests.patience import PATIENCE
from tests.snapshot.recorded import packed, small_state
from tests.supervision.limits import no_descriptor_left, open_descriptors


def outcome(order: JobOrder) -> Done:
    return asyncio.run(asyncio.wait_for(done(order), PATIENCE))


def exporting(data: Path, path: Path, created: int = 0) -> Export:
    return Export(str(data / STATE_FOLDER), str(data / STATE_FOLDER), "testnet", str(path), created)


def importing(folder: Path, file: Path) -> Import:
    return Import(str(folder), "testnet", str(file), (SMALL.initial, SMALL.min_free, SMALL.increment))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a state of a recorded chain."""
    file = tmp_path / name_of(120)
    file.write_bytes(packed(small_state()))
    folder = tmp_path / "data"
    folder.mkdir()
    assert carry_out(importing(folder / STATE_FOLDER, file), lambda _: None).number == 120
    return folder


def test_a_snapshot_is_written_and_imported(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "snapshots" / name_of(120)

    written = outcome(exporting(data, path))

    assert written == Done(120, path.stat().st_size)
    assert Snapshot.from_path(path).head_number == 120
    assert outcome(importing(tmp_path / "built", path)) == Done(120, head_id=Snapshot.from_path(path).head_id.hex())
    with StateReader.open(tmp_path / "built", STORED_TABLES) as reader, reader.snapshot() as view:
        assert view.revision == 120


def test_what_reference_nodes_cannot_load_is_told(tmp_path: Path) -> None:
    state = small_state()
    state["account_metadata"][1]["json_metadata"] = "\x01"
    file = tmp_path / name_of(120)
    file.write_bytes(packed(state))
    carry_out(importing(tmp_path / STATE_FOLDER, file), lambda _: None)

    told = carry_out(exporting(tmp_path, tmp_path / name_of(121)), lambda _: None)

    assert told.obstacle_count == 1
    assert told.obstacles[0].startswith("account_metadata 1: it has a control character")


def test_the_checks_of_an_imported_state_are_counted_in_the_log(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    outcome(importing(tmp_path / "built", tmp_path / name_of(120)))
    state = str(data / STATE_FOLDER)
    outcome(Audit(state, str(tmp_path / "copy"), "testnet"))

    told = [each.getMessage() for each in caplog.records if "(100 %)" in each.getMessage()]
    count = len(STATE_CHECKS)
    assert [text.partition(" (")[0] for text in told if text.startswith("checking")] == [
        f"checking the imported state: check {count} of {count}"
    ] * 2


LOGS = """
import logging
from ledgerd.snapshot.importing import job
def fails(order, tell):
    logging.getLogger("ledgerd.state").warning("%(count)d records of 100 %% are odd", {"count": 3})
    raise RuntimeError("100 % wrong")
job.carry_out = fails
job.main()
"""


def test_lines_of_the_process_stand_in_the_log_of_the_node(
    data: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.snapshot.importing.jobs.COMMAND", (sys.executable, "-c", LOGS))

    with pytest.raises(SnapshotError, match="ended without a result"):
        outcome(importing(data, data))

    odd, failed, trace = [each for each in caplog.records if each.levelname in {"WARNING", "ERROR"}]
    assert (odd.name, odd.getMessage(), odd.args) == ("ledgerd.state", "3 records of 100 % are odd", {"count": 3})
    assert failed.getMessage() == "the process for the snapshot has failed: internal error"
    assert trace.getMessage().endswith("RuntimeError: 100 % wrong")
    assert capfd.readouterr().err == ""


def test_the_reason_of_a_failure_comes_back(data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"no snapshot")
    (tmp_path / "file").touch()

    with pytest.raises(SnapshotError, match="the snapshot is damaged"):
        outcome(importing(tmp_path / "built", broken))
    assert not (tmp_path / "built").exists()
    with pytest.raises(SnapshotError, match="cannot be written: "):
        outcome(exporting(data, tmp_path / "file" / "x"))


def test_a_process_that_fails_otherwise_gives_no_result(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    order = exporting(data, tmp_path / "x", 1 << 60)

    with pytest.raises(SnapshotError, match=r"without a result \(code 1\)"):
        outcome(order)
    assert "Traceback" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_process_that_cannot_be_started_is_an_outcome_and_the_next_one_is_not_harmed(
    data: Path, tmp_path: Path
) -> None:
    path = tmp_path / name_of(120)

    async def main() -> Done:
        with no_descriptor_left(), pytest.raises(SnapshotError, match="cannot be started: Too many open files"):
            await done(exporting(data, path))
        return await done(exporting(data, path))

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)).number == 120


@pytest.mark.parametrize("free", [1, 2, 3, 4, 5])
def test_a_process_that_finds_too_few_descriptors_leaves_none_open(data: Path, tmp_path: Path, free: int) -> None:
    """It fails at another place with each descriptor more."""

    async def main() -> None:
        before = open_descriptors()
        with no_descriptor_left(but=free), suppress(SnapshotError, OSError):
            await done(exporting(data, tmp_path / name_of(120)))
        assert open_descriptors() == before

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_cancelling_ends_the_process(data: Path, tmp_path: Path) -> None:
    async def main() -> None:
        task = asyncio.create_task(done(exporting(data, tmp_path / "x")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_the_process_ends_when_its_node_does(data: Path, tmp_path: Path) -> None:
    """It reads a file that takes long, and its pipe is closed: as by a node that was killed."""
    never = tmp_path / "never"
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    front = HEADER_KEY + b'{"version":%d}' % VERSION + STATE_KEY
    begun = packer.compress(front) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    never.write_bytes(STREAM_HEAD + begun + piece * (LARGEST_TEXT >> 20))

    ended = subprocess.run(
        [sys.executable, "-m", "ledgerd.snapshot.importing.job"],
        input=msgspec.json.encode(importing(data / "built", never)) + b"\n",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"Done" not in ended.stdout


def test_the_state_of_a_node_is_checked_on_a_copy(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert outcome(Audit(str(data / STATE_FOLDER), str(copy), "testnet")) == Done(120)
    assert not copy.exists()


def test_two_files_are_compared(tmp_path: Path) -> None:
    state = small_state()
    (tmp_path / "one").write_bytes(packed(state))
    state["account"][0]["balance"] = "1.000 VIZ"
    (tmp_path / "two").write_bytes(packed(state))

    told = outcome(Compare(str(tmp_path / "one"), str(tmp_path / "two"), "testnet"))

    assert told == Done(120, differing=("account",))


def test_a_block_that_is_needed_must_be_in_the_chain_of_the_snapshot(tmp_path: Path) -> None:
    file = tmp_path / name_of(120)
    file.write_bytes(packed(small_state()))
    order = importing(tmp_path / "built", file)
    head_id = Snapshot.from_path(file).head_id.hex()

    with pytest.raises(SnapshotError, match="it is another chain"):
        outcome(replace(order, terms=Terms(needed_block=(120, "00" * 20))))
    with pytest.raises(SnapshotError, match="does not tell the id of block 77"):
        outcome(replace(order, terms=Terms(needed_block=(77, head_id))))
    assert outcome(replace(order, terms=Terms(needed_block=(120, head_id)))).head_id == head_id
