"""From the records of a snapshot to the rows of an empty state, in order. Where processors are spare, other processes
make rows of some of the records; what they cannot take, or no longer answer, is done here, so that the outcome is the
same.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from ledgerd.codec import DecodeError, codec_of
from ledgerd.projections.kept import KeptProjections
from ledgerd.protocol.blocks.block import Block
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.batches import RecordBatch
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME, HEAD_BLOCK, METADATA, OLD_SECTIONS, SnapshotSection
from ledgerd.snapshot.importing.beside import packing_request
from ledgerd.snapshot.importing.packing import PackedBatch, Tallies, unpacked_batch
from ledgerd.state import Entity, Store, StoreMisuse
from ledgerd.state.errors import NotUniqueRow
from ledgerd.state.loading import Loading
from ledgerd.state.tables.tables import Table
from ledgerd.supervision.asking import AskedProcesses, AwaitedAnswer

VOTES, OLD_VOTES = "validator_vote", "witness_vote"
"""The first of these sections that is not empty is used."""

BATCHES_AHEAD = 8
"""Batches that are read ahead, where other processes take some of them."""
MOST_WAITING = 2
"""Batches that one process may have."""
FEWEST_SENT = 16
"""Fewer records are sooner taken than sent."""
SILENT_SECONDS = 60.0


class _Waiting:
    """A batch on its way into the state."""

    def __init__(self, batch: RecordBatch, section: SnapshotSection[Any] | None, count: int) -> None:
        self.batch = batch
        self.section = section
        """The section of the batch; None if its records become no rows."""
        self.count = count
        """The rows of its table before it."""
        self.question: AwaitedAnswer | None = None
        self.entities: list[Entity] | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody works on it."""
        return self.question is None and self.entities is None and self.section is not None

    @property
    def is_worth_sending(self) -> bool:
        return self.is_free and self.batch.count >= FEWEST_SENT and bool(self.batch.array)


class _Filling:
    """The reading of one import."""

    def __init__(
        self, rows: Loading, metadata: Loading | None, tallies: Tallies, beside: AskedProcesses | None
    ) -> None:
        """The metadata of markets goes elsewhere, if anywhere."""
        self._rows = rows
        self._metadata = metadata
        self._tallies = tallies
        self._beside = beside
        self._met: set[str] = set()
        self._counts: Counter[Table[Any]] = Counter()
        self._waiting: deque[_Waiting] = deque()
        self._fault: Exception | None = None
        """The error that ended the reading, after all batches that wait."""
        self.head_block: Block | None = None

    def fill(self, snapshot: Snapshot) -> None:
        batches = snapshot.batches()
        while True:
            self._read_ahead(batches)
            if not self._waiting:
                break
            if self._beside is not None:
                self._send(self._beside)
            self._take_first()
        if self._fault is not None:
            raise self._fault

    def _read_ahead(self, batches: Iterator[RecordBatch]) -> None:
        most = BATCHES_AHEAD if self._beside is not None and self._beside.pids else 1
        while self._fault is None and len(self._waiting) < most:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                section = self._section(batch.section)
            except SnapshotError as fault:
                self._fault = fault
                return
            self._waiting.append(_Waiting(batch, section, 0 if section is None else self._counts[section.table]))
            if section is not None:
                self._counts[section.table] += batch.count

    def _section(self, name: str) -> SnapshotSection[Any] | None:
        self._met.add(name)
        is_left_out = (name == METADATA.name and self._metadata is None) or (name == OLD_VOTES and VOTES in self._met)
        if is_left_out or name == HEAD_BLOCK:
            return None
        section = BY_NAME.get(OLD_SECTIONS.get(name, name))
        if section is None:
            raise SnapshotError(f"the snapshot has a section {name}, which this program does not know: update it")
        return section

    def _send(self, beside: AskedProcesses) -> None:
        """Let others work on what comes later; the first batch is taken here unless it was sent before."""
        for waiting in list(self._waiting)[1:]:
            if waiting.is_worth_sending and waiting.section is not None:
                request = packing_request(waiting.section.name, waiting.count, waiting.batch.array)
                waiting.question = beside.ask(request, MOST_WAITING)
                if waiting.question is None:
                    return

    def _take_first(self) -> None:
        """Take the first batch in. While another process has it, a later one is worked on."""
        first = self._waiting[0]
        question = first.question
        if self._beside is not None and question is not None and question.is_open:
            self._beside.exchange()
            free = next((each for each in self._waiting if each.is_free), None)
            if question.is_open and free is not None:
                free.entities = _parsed(free)
                return
            self._beside.wait_for(question, SILENT_SECONDS)
        self._waiting.popleft()
        packed = None if question is None or question.answer is None else unpacked_batch(question.answer)
        if packed is not None and first.section is not None:
            self._add_packed(first, first.section, packed)
        else:
            self._add(first)

    def _target(self, section: SnapshotSection[Any]) -> Loading:
        return self._metadata if section is METADATA and self._metadata is not None else self._rows

    def _add_packed(self, waiting: _Waiting, section: SnapshotSection[Any], packed: PackedBatch) -> None:
        try:
            self._target(section).add_packed(section.table, packed.rows)
        except StoreMisuse as error:
            raise _refused(waiting.batch.section, error) from error
        self._tallies.add_packed(packed.tallies)

    def _add(self, waiting: _Waiting) -> None:
        name, section = waiting.batch.section, waiting.section
        try:
            if section is not None:
                add, table, count = self._target(section).add, section.table, self._tallies.add
                for entity in waiting.entities or map(section.parse, waiting.batch.records):
                    add(table, entity)
                    count(entity)
            elif name == HEAD_BLOCK:
                for record in waiting.batch.records:
                    self.head_block = codec_of(Block).from_json(record)
        except (DecodeError, StoreMisuse) as error:
            raise _refused(name, error) from error


def _parsed(waiting: _Waiting) -> list[Entity] | None:
    """The objects of a batch before its turn; what is wrong with them is found again in its turn."""
    if waiting.section is None:
        return None
    try:
        return [waiting.section.parse(record) for record in waiting.batch.records]
    except (DecodeError, SnapshotError):
        return []


def _refused(name: str, error: Exception) -> SnapshotError:
    return SnapshotError(f"a record of {name} in the snapshot cannot be read: {error}")


def fill(
    store: Store,
    snapshot: Snapshot,
    tallies: Tallies | None = None,
    *,
    kept: KeptProjections | None = None,
    beside: AskedProcesses | None = None,
) -> Block | None:
    """Take the records of a snapshot into an empty store, and count what they hold; the head block, if there is one."""
    try:
        with store.loading() as rows, nullcontext() if kept is None else kept.store.loading() as metadata:
            filling = _Filling(rows, metadata, tallies or Tallies(), beside)
            filling.fill(snapshot)
            return filling.head_block
    except NotUniqueRow as error:
        sections = {each: BY_NAME.get(OLD_SECTIONS.get(each, each)) for each in snapshot.sections}
        name = next(each for each, section in sections.items() if section and section.table.title == error.table)
        text = f"a record of {name} in the snapshot, {error.object_id}, cannot be read: {error}"
        raise SnapshotError(text) from error
