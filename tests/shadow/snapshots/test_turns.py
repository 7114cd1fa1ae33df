"""When snapshots are compared, against processes that only pretend: one at a time, seldom, and through restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ledgerd.cli.main import main
from ledgerd.cli.tools.shadow import DIFFERENT
from ledgerd.shadow.keeping.bundles import read_bundle
from ledgerd.shadow.keeping.record import record_file, write_record
from ledgerd.shadow.settings import SnapshotTask
from ledgerd.shadow.snapshots.doubts import EXPIRED_BLOCKS
from ledgerd.shadow.snapshots.outcome import FoundRecord, SnapshotJob, SnapshotOutcome, write_outcome
from ledgerd.shadow.snapshots.turns import LONGEST_SECONDS, RETRY_SECONDS, SnapshotTurns
from tests.shadow.world import Played

DAY = 86_400
FILE = "record-1.json"


class PretendedProcess:
    """Ends when it is told to."""

    def __init__(self, job: SnapshotJob) -> None:
        self.job = job
        self.code: int | None = None
        self.is_killed = False

    @property
    def is_running(self) -> bool:
        return self.code is None

    def end(self, outcome: SnapshotOutcome | None, code: int = 0) -> None:
        if outcome is not None:
            write_outcome(Path(self.job.folder), outcome)
        self.code = code

    def kill(self) -> None:
        self.is_killed = self.is_running
        self.code = -9

    def wait(self, _seconds: float) -> int | None:
        return self.code


class Turns:
    """Turns in virtual time, and the processes that were started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 1_000_000.0
        self.played = Played(1, folder)
        self.record = self.played.record
        self.record.chain_id = "00"
        self.started: list[PretendedProcess] = []
        self.warned: list[str] = []
        self.start()

    def start(self) -> None:
        self.turns = SnapshotTurns(
            SnapshotTask("127.0.0.1:9", seconds=DAY),
            self.folder / FILE,
            self.record,
            self.played.shadow._finder,  # noqa: SLF001 - that of this record
            self._begin,
            lambda: self.now,
            self.warned.append,
        )

    def _begin(self, job: SnapshotJob) -> Any:
        self.started.append(PretendedProcess(job))
        return self.started[-1]

    def come_to(self, outcome: SnapshotOutcome | None, code: int = 0, after: float = DAY) -> None:
        """The next process is started and ends with this."""
        self.now += after
        count = len(self.started)
        self.turns.step()
        assert len(self.started) == count + 1
        self.started[-1].end(outcome, code)
        self.turns.step()


def found(number: int, amount: int = 2) -> SnapshotOutcome:
    record = FoundRecord(
        "validator_vote", 3, ["vote_created_block"], {"vote_created_block": 1}, {"vote_created_block": amount}
    )
    return SnapshotOutcome(number=number, block_id="ab" * 20, records=1_000, differing=[record])


def test_one_at_a_time_and_one_a_day(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    for _ in range(3):
        turns.turns.step()
    assert len(turns.started) == 1

    turns.started[0].end(SnapshotOutcome(number=5_000, records=1_000))
    for _ in range(24):
        turns.turns.step()
        turns.now += 3_599
    assert len(turns.started) == 1
    turns.now += 30
    turns.turns.step()
    assert len(turns.started) == 2
    assert turns.started[1].job.above == 5_000
    counts = turns.record.snapshots
    assert (counts.compared, counts.records, counts.block, counts.equal) == (1, 1_000, 5_000, 5_000)


def test_nothing_is_asked_before_the_chain_is_known(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    turns.record.chain_id = ""
    turns.turns.step()

    assert turns.started == []


def test_a_restart_makes_no_more_of_them_and_removes_what_was_half_fetched(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    turns.turns.step()
    half = Path(turns.started[0].job.folder) / "half"
    half.write_bytes(b"half")

    turns.start()  # after a kill
    assert not half.exists()
    turns.turns.step()
    assert len(turns.started) == 1
    turns.come_to(SnapshotOutcome(number=5_000), after=RETRY_SECONDS)
    turns.start()
    turns.come_to(SnapshotOutcome())
    assert turns.started[-1].job.above == 5_000

    turns.now += DAY
    turns.turns.step()
    turns.turns.close()
    assert turns.started[-1].is_killed
    assert not Path(turns.started[-1].job.folder).exists()


def test_a_problem_is_told_once_and_is_no_difference(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    for _ in range(3):
        turns.come_to(SnapshotOutcome(problem="the snapshot is damaged"))
    assert turns.warned == ["no snapshot was compared: the snapshot is damaged"]
    assert turns.record.snapshots.problem == "the snapshot is damaged"

    turns.come_to(SnapshotOutcome())
    assert turns.record.snapshots.problem == ""
    turns.come_to(None, code=1)
    assert turns.warned[-1].endswith("has ended without a result (code 1)")
    assert (turns.record.differences, turns.played.told) == (0, [])


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    turns.turns.step()
    turns.now += LONGEST_SECONDS
    turns.turns.step()

    assert turns.started[0].is_killed
    assert turns.record.snapshots.problem == "it has taken too long"


def test_what_differs_is_looked_at_again_and_then_told_once_with_a_bundle(tmp_path: Path, capsys: Any) -> None:
    turns = Turns(tmp_path)
    turns.come_to(SnapshotOutcome(number=4_000, records=1_000))
    turns.come_to(found(5_000))
    assert turns.record.differences == 0
    assert turns.record.snapshots.doubtful == 1

    turns.come_to(found(5_000 + EXPIRED_BLOCKS), after=RETRY_SECONDS)
    assert turns.record.of_consensus == 1
    turns.come_to(found(5_000 + 2 * EXPIRED_BLOCKS))
    assert turns.record.of_consensus == 1
    (told,) = turns.played.told
    assert "validator_vote 3.vote_created_block is 1 at ours, 2 at the other one" in told

    assert turns.record.first is not None
    file = turns.record.first.file
    bundle = read_bundle(Path(file))
    assert bundle.is_of_consensus
    assert (bundle.block, bundle.first_block, bundle.equal_block) == (5_000 + EXPIRED_BLOCKS, 5_000, 4_000)
    assert main(["shadow", "report", file]) == DIFFERENT
    assert "asked: the snapshots of both for validator_vote 3" in capsys.readouterr().out


def test_the_report_says_what_was_compared(tmp_path: Path, capsys: Any) -> None:
    turns = Turns(tmp_path)
    turns.come_to(SnapshotOutcome(number=5_000, records=1_234, unknown=["account.novelty"]))
    turns.come_to(SnapshotOutcome(problem="it has no snapshot"))
    write_record(record_file(tmp_path, "url"), turns.record, durably=False)

    main(["shadow", "report", "--folder", str(tmp_path)])
    out = capsys.readouterr().out
    assert "  1 snapshots with 1,234 records, the last of block 5000\n    every record equal at block 5000" in out
    assert "the other node alone writes account.novelty" in out
    assert "no snapshot was compared last: it has no snapshot" in out
