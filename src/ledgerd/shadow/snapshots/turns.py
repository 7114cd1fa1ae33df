"""When the next snapshot is compared, by a process that nothing waits for, and what becomes of its result."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ledgerd.basics.printable import printable
from ledgerd.client.differing import Difference, differences, shown
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead
from ledgerd.compare.node import NodeAnswer
from ledgerd.compare.reads import Read
from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.finding import Finder, ShadowFinding
from ledgerd.shadow.keeping.bundles import RECORDS, SNAPSHOT
from ledgerd.shadow.keeping.record import ShadowRecord, SnapshotCounts
from ledgerd.shadow.settings import SnapshotTask
from ledgerd.shadow.snapshots.doubts import lasting, read_progress, write_progress
from ledgerd.shadow.snapshots.outcome import FoundRecord, SnapshotJob, SnapshotOutcome, read_outcome
from ledgerd.supervision.processes import Child

RETRY_SECONDS = 3_600
"""Until it is asked again where nothing was compared, and until what differs is looked at again. A reference node lets
one address connect ten times an hour.
"""
LONGEST_SECONDS = 6 * 3_600
"""Seconds after which a comparison is ended."""
END_SECONDS = 5.0

StartJob = Callable[[SnapshotJob], Child]


class SnapshotTurns:
    """One comparison after the other; `step` is called again and again, and returns at once."""

    def __init__(
        self,
        task: SnapshotTask,
        file: Path,
        record: ShadowRecord,
        finder: Finder,
        start: StartJob,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        """The file is that of the record: what belongs to it stands beside it."""
        self._task = task
        self._record = record
        self._finder = finder
        self._start = start
        self._clock = clock
        self._warn = warn
        self._file = file.with_name(f"snapshots-{file.stem}.json")
        self._folder = file.with_name(f"snapshots-{file.stem}.work")
        self._progress = read_progress(self._file)
        self._child: Child | None = None
        self._began = 0.0
        self._clear()

    def _clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """End what is under way; it is begun anew after the next start."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait(END_SECONDS)
            self._clear()

    def step(self) -> None:
        now = self._clock()
        if self._child is None:
            if self._record.chain_id and now >= self._progress.due:
                self._begin(now)
            return
        if self._child.is_running and now - self._began < LONGEST_SECONDS:
            return
        is_late = self._child.is_running
        try:
            outcome = SnapshotOutcome(problem="it has taken too long") if is_late else read_outcome(self._folder)
        except OperatorError as problem:
            outcome = SnapshotOutcome(problem=f"{problem} (code {self._child.code})")
        self.close()
        self._conclude(outcome)

    def _begin(self, now: float) -> None:
        """The time of the next one is written down first: no restart makes more of them."""
        self._began = now
        self._next_in(RETRY_SECONDS)
        self._clear()
        try:
            self._folder.mkdir(parents=True)
            job = SnapshotJob(self._task, str(self._folder), self._progress.last, self._record.chain_id)
            self._child = self._start(job)
        except OSError as problem:
            self._report_problem(f"its process cannot be started: {problem.strerror or problem}")

    def _next_in(self, seconds: float) -> None:
        self._progress.due = int(self._clock() + seconds)
        write_progress(self._file, self._progress)

    # -- what came of it

    def _conclude(self, outcome: SnapshotOutcome) -> None:
        self._report_problem(outcome.problem)
        if outcome.problem or not outcome.number:
            self._next_in(RETRY_SECONDS)
            return
        found = lasting(self._progress, outcome)
        counts = self._record.snapshots
        self._count(counts, outcome)
        if found:
            self._finder.report(self._finding(found, outcome), self._record, int(self._clock()))
        if not outcome.differing:
            self._progress.equal = counts.equal = outcome.number
        self._progress.last = outcome.number
        is_doubtful = bool(outcome.differing) and not found
        self._next_in(min(RETRY_SECONDS, self._task.seconds) if is_doubtful else self._task.seconds)

    def _report_problem(self, problem: str) -> None:
        """Once, until it is another or gone."""
        counts = self._record.snapshots
        if problem and problem != counts.problem:
            self._warn(f"no snapshot was compared: {problem}")
        counts.problem = problem

    def _count(self, counts: SnapshotCounts, outcome: SnapshotOutcome) -> None:
        counts.compared += 1
        counts.records += outcome.records
        counts.block, counts.at = outcome.number, int(self._clock())
        counts.doubtful = len(self._progress.doubts)
        counts.unknown = list(map(printable, outcome.unknown))

    def _finding(self, found: list[FoundRecord], outcome: SnapshotOutcome) -> ShadowFinding:
        """The finding for these records, as of a question for them: `ledgerd debug difference` asks it of a state that
        it makes.
        """
        wanted: list[object] = [[each.section, each.id, each.names] for each in found]
        ours: Json = {each.title: each.ours for each in found}
        theirs: Json = {each.title: each.theirs for each in found}
        first = next(differences(ours, theirs), Difference("", shown(ours), shown(theirs)))
        doubts = self._progress.doubts
        firsts = [doubts[place].first for each in found for place, _ in each.digests() if place in doubts]
        return ShadowFinding(
            Read(SNAPSHOT, RECORDS, wanted),
            is_of_consensus=True,
            difference=first,
            answers=(NodeAnswer(ours), NodeAnswer(theirs)),
            head=NodeHead(outcome.number, outcome.block_id, outcome.number),
            first_block=min(firsts, default=outcome.number),
            equal_block=self._progress.equal,
        )
