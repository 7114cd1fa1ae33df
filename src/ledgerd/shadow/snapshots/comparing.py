"""One snapshot of the other node against our state at its block. What cannot be compared is a problem, and no
difference: nothing of a file counts before its checksum, its chain and its block are those that are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET, NETWORKS, ChainParameters
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.shadow.heads import shortened
from ledgerd.shadow.settings import SnapshotPlace, read_snapshot_place
from ledgerd.shadow.snapshots.obtaining import numbers_at, obtained, offered_at
from ledgerd.shadow.snapshots.outcome import MOST_RECORDS, FoundRecord, SnapshotJob, SnapshotOutcome
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.client import FAULTS
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.records import StateRecord, differing_records, records_of_snapshot, records_of_view
from ledgerd.snapshot.importing.build import read_snapshot
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader

THEIRS, OURS = "theirs", "ours"
RECORDS_A_PAUSE = 500

Pause = Callable[[], None]
"""Called now and then: it waits for as long as the share of the processor asks for."""

MakeState = Callable[[int, Path, Pause], str]
"""Makes our state at a block in a data directory of its own; returns the id of the block. `OperatorError`: it cannot be
made.
"""


def compare(job: SnapshotJob, network: ChainParameters | None, make: MakeState | None, pause: Pause) -> SnapshotOutcome:
    """Without a network it is found by its id; without a way to make a state there are only our snapshots."""
    try:
        return _compare(job, network, make, pause)
    except (OperatorError, *FAULTS) as problem:
        return SnapshotOutcome(problem=shortened(problem) or type(problem).__name__)


def _compare(
    job: SnapshotJob, network: ChainParameters | None, make: MakeState | None, pause: Pause
) -> SnapshotOutcome:
    task, folder = job.task, Path(job.folder)
    place = read_snapshot_place(task.ours) if task.ours else None
    known = numbers_at(place) if place is not None else set()
    offer = offered_at(read_snapshot_place(task.theirs), known, job.above, task.most_bytes)
    if offer is None:
        return SnapshotOutcome()
    if make is None and offer.number not in known:
        raise OperatorError(
            f"there are no snapshots of one block: that of the other node is of block {offer.number}, ours "
            f"{'of block ' + ', '.join(map(str, sorted(known)[-3:])) if known else 'are not there'}"
        )
    theirs = _read(obtained(offer, folder / THEIRS, task.most_bytes), job)
    if theirs.head_number <= job.above:
        return SnapshotOutcome()
    with ExitStack() as stack:
        found = _ours_in_file(place, theirs, job) if place is not None and theirs.head_number in known else None
        if found is not None:
            ours = records_of_snapshot(found, set())
        elif make is not None:
            ours = _made(make, theirs, folder / OURS, pause, stack)
        else:
            raise OperatorError(f"our snapshot is of another block than {theirs.head_number}")
        return _outcome(ours, theirs, network or _network_of(theirs), pause)


def _read(path: Path, job: SnapshotJob) -> Snapshot:
    snapshot = read_snapshot(path)
    if job.chain_id and snapshot.chain_id.hex() != job.chain_id:
        raise SnapshotError(f"the snapshot {path.name} is of another chain, {snapshot.chain_id.hex()[:16]}...")
    return snapshot


def _network_of(snapshot: Snapshot) -> ChainParameters:
    return next((each for each in NETWORKS.values() if each.chain_id == snapshot.chain_id), MAINNET)


def _require_one_block(number: int, ours: str, theirs: str) -> None:
    if ours != theirs:
        raise OperatorError(f"block {number} is {ours} here, and {theirs} in the snapshot: they are of two branches")


def _ours_in_file(place: SnapshotPlace, theirs: Snapshot, job: SnapshotJob) -> Snapshot | None:
    offer = offered_at(place, {theirs.head_number}, theirs.head_number - 1, job.task.most_bytes)
    if offer is None:
        return None
    found = _read(obtained(offer, Path(job.folder) / OURS, job.task.most_bytes), job)
    if found.head_number != theirs.head_number:
        return None
    _require_one_block(found.head_number, found.head_id.hex(), theirs.head_id.hex())
    return found


def _made(make: MakeState, theirs: Snapshot, folder: Path, pause: Pause, stack: ExitStack) -> Iterator[StateRecord]:
    block_id = make(theirs.head_number, folder, pause)
    _require_one_block(theirs.head_number, block_id, theirs.head_id.hex())
    reader = stack.enter_context(StateReader.open(folder / STATE_FOLDER, STORED_TABLES))
    return records_of_view(stack.enter_context(reader.snapshot()))


def _outcome(ours: Iterator[StateRecord], theirs: Snapshot, network: ChainParameters, pause: Pause) -> SnapshotOutcome:
    unknown: set[str] = set()
    outcome = SnapshotOutcome(number=theirs.head_number, block_id=theirs.head_id.hex())
    with json_defaults_of(network):
        for done, each in zip(count(1), differing_records(ours, records_of_snapshot(theirs, unknown))):
            outcome.records = done
            if each is not None and len(outcome.differing) < MOST_RECORDS:
                outcome.differing.append(FoundRecord.of(each))
            elif each is not None:
                outcome.more += 1
            if done % RECORDS_A_PAUSE == 0:
                pause()
    outcome.unknown = sorted(unknown)
    return outcome
