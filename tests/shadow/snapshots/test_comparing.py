"""One comparison against doubles: which snapshots are compared, and what is a problem and no difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.shadow.settings import SnapshotTask, read_snapshot_place
from ledgerd.shadow.snapshots.comparing import MakeState, compare
from ledgerd.shadow.snapshots.outcome import (
    LONGEST_FIELD,
    MOST_RECORDS,
    FoundRecord,
    SnapshotJob,
    SnapshotOutcome,
)
from ledgerd.snapshot.file.directory import name_of
from tests.ports import free_port
from tests.snapshot.recorded import packed, small_state

BLOCK = 120


@pytest.fixture
def state() -> dict[str, Any]:
    return small_state()


def keep(folder: Path, state: dict[str, Any], number: int = BLOCK, **header: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name_of(number)
    path.write_bytes(packed(state, **header))
    return path


def job_in(folder: Path, above: int = 0, **task: Any) -> SnapshotJob:
    given = {"theirs": str(folder / "vizd"), "ours": str(folder / "ledgerd"), **task}
    return SnapshotJob(SnapshotTask(**given), str(folder / "work"), above, TESTNET.chain_id.hex())


def compared(job: SnapshotJob, make: MakeState | None = None) -> SnapshotOutcome:
    return compare(job, None, make, lambda: None)


def test_the_snapshots_of_one_block_are_compared(tmp_path: Path, state: dict[str, Any]) -> None:
    keep(tmp_path / "ledgerd", state)
    assert compared(job_in(tmp_path)) == SnapshotOutcome(), "the other node has none yet"

    keep(tmp_path / "vizd", state)
    outcome = compared(job_in(tmp_path))
    assert (outcome.number, outcome.problem, outcome.differing) == (BLOCK, "", [])
    assert outcome.records > 20
    assert compared(job_in(tmp_path, above=BLOCK)) == SnapshotOutcome(), "it was compared already"


def test_the_newest_block_of_which_both_have_one_is_taken(tmp_path: Path, state: dict[str, Any]) -> None:
    for folder, numbers in (("ledgerd", (100, BLOCK, 140)), ("vizd", (100, BLOCK, 150))):
        for number in numbers:
            keep(tmp_path / folder, state, number, snapshot_block_num=number)

    assert compared(job_in(tmp_path)).number == BLOCK


def test_what_differs_is_given_by_field_and_bounded(tmp_path: Path, state: dict[str, Any]) -> None:
    keep(tmp_path / "ledgerd", state)
    state["account"][0] |= {"memo_key": state["account"][1]["memo_key"], "energy": 1}
    state["account_metadata"][0]["json_metadata"] = "x" * (LONGEST_FIELD + 1)
    keep(tmp_path / "vizd", state)

    account, metadata = compared(job_in(tmp_path)).differing

    assert account.names == ["energy"] or set(account.names) == {"memo_key", "energy"}
    assert account.theirs is not None
    assert account.theirs["energy"] == 1
    assert metadata.theirs is not None
    assert "characters" in metadata.theirs["json_metadata"]
    assert len(metadata.theirs["json_metadata"]) < 400


def test_of_a_state_that_differs_everywhere_some_records_are_kept_and_all_counted(
    tmp_path: Path, state: dict[str, Any]
) -> None:
    keep(tmp_path / "ledgerd", state)
    state["proposal"] = [{**state["proposal"][-1], "id": 1_000 + number} for number in range(3 * MOST_RECORDS)]
    keep(tmp_path / "vizd", state)

    outcome = compared(job_in(tmp_path))

    assert len(outcome.differing) == MOST_RECORDS
    assert outcome.more >= 2 * MOST_RECORDS


def test_a_field_is_told_in_which_both_differ() -> None:
    found = FoundRecord("account", 1, ["energy"], {"energy": 1}, {"energy": 2})
    ((place, digest),) = found.digests()

    assert place == "account 1.energy"
    assert digest != FoundRecord("account", 1, ["energy"], {"energy": 1}, {"energy": 3}).digests()[0][1]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _no_snapshot(path: Path) -> None:
    path.write_bytes(b"\0" * 100)


@pytest.mark.parametrize("spoil", [_cut, _no_snapshot])
def test_a_file_that_is_damaged_is_a_problem(
    tmp_path: Path, state: dict[str, Any], spoil: Callable[[Path], None]
) -> None:
    keep(tmp_path / "ledgerd", state)
    spoil(keep(tmp_path / "vizd", state))

    outcome = compared(job_in(tmp_path))

    assert outcome.problem
    assert (outcome.number, outcome.differing) == (0, [])


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"chain_id": "ab" * 32}, "is of another chain, abababababababab..."),
        ({"snapshot_block_id": "00" * 20}, "they are of two branches"),
        ({"snapshot_block_num": BLOCK + 1}, "another block than 121"),
        ({"version": 2}, "Unsupported snapshot version: 2"),
    ],
)
def test_a_snapshot_of_something_else_is_a_problem(
    tmp_path: Path, state: dict[str, Any], header: dict[str, Any], words: str
) -> None:
    keep(tmp_path / "ledgerd", state)
    keep(tmp_path / "vizd", state, **header)

    assert words in compared(job_in(tmp_path)).problem


def test_records_that_cannot_be_read_are_a_problem(tmp_path: Path, state: dict[str, Any]) -> None:
    keep(tmp_path / "ledgerd", state)
    state["account"].reverse()
    keep(tmp_path / "vizd", state)

    outcome = compared(job_in(tmp_path))
    assert "is not in its place" in outcome.problem
    assert outcome.differing == []


def test_a_file_of_too_many_bytes_is_not_read(tmp_path: Path, state: dict[str, Any]) -> None:
    keep(tmp_path / "ledgerd", state)
    keep(tmp_path / "vizd", state)

    assert "where 1000 are the most" in compared(job_in(tmp_path, most_bytes=1_000)).problem


def test_a_server_that_is_away_and_blocks_that_do_not_meet_are_problems(tmp_path: Path, state: dict[str, Any]) -> None:
    keep(tmp_path / "ledgerd", state, 100)
    keep(tmp_path / "vizd", state)

    assert compared(job_in(tmp_path, theirs=f"127.0.0.1:{free_port()}")).problem
    problem = compared(job_in(tmp_path)).problem
    assert problem.endswith("that of the other node is of block 120, ours of block 100")


def test_a_state_that_cannot_be_made_is_a_problem(tmp_path: Path, state: dict[str, Any]) -> None:
    def make(number: int, _target: Path, _pause: object) -> str:
        raise OperatorError(f"blocks are missing below {number}")

    keep(tmp_path / "vizd", state)
    assert compared(job_in(tmp_path), make).problem == f"blocks are missing below {BLOCK}"
    assert "two branches" in compared(job_in(tmp_path), lambda *_: "ab" * 20).problem


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:8092", ("127.0.0.1", 8092)),
        ("[::1]:8092", ("::1", 8092)),
        ("/var/lib/vizd/snapshots", Path("/var/lib/vizd/snapshots")),
        ("/var/lib/a:1/b", Path("/var/lib/a:1/b")),
        ("snapshots", Path("snapshots")),
    ],
)
def test_a_place_is_an_endpoint_or_a_path(text: str, place: object) -> None:
    assert read_snapshot_place(text) == place


@pytest.mark.parametrize("text", ["", "host:", ":80", "host:0", "host:70000", "host:8a", "host:\u0661"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(OperatorError):
        read_snapshot_place(text)
