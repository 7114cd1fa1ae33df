"""Builds the state of a snapshot in a folder of its own. The node then replaces its state by it."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from ledgerd.basics.closing import on_error
from ledgerd.chain.ledger.provenance import Provenance, provenance_of, record_provenance
from ledgerd.chain.log.state_blocks import StateBlocks
from ledgerd.projections.kept import KeptProjections
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.audit import ChecksMade, is_long, require_sound
from ledgerd.snapshot.importing.beside import processes_beside
from ledgerd.snapshot.importing.load import load
from ledgerd.snapshot.settings import ANY, Terms
from ledgerd.state import Store
from ledgerd.state.files.disk import Space
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import BLOCK_SUMMARY_COUNT, REVERSIBLE_BLOCKS, ReversibleBlock

MOST_PROCESSES = 3
"""Beside an import: the reading of the file and the writing of the rows leave no work for more."""
FEWEST_RECORDS = BLOCK_SUMMARY_COUNT + 50_000
"""Fewer take about as long as the start of a process. Every state has the ids of 65,536 blocks, which are soon read."""


def read_snapshot(file: Path) -> Snapshot:
    try:
        return Snapshot.from_path(file)
    except OSError as problem:
        raise SnapshotError(f"{file} cannot be read: {problem.strerror}") from problem


def build_state(
    folder: Path,
    snapshot: Snapshot,
    network: ChainParameters,
    space: Space,
    terms: Terms = ANY,
    checked: ChecksMade = lambda *_: None,
    processes: int = 0,
) -> Provenance:
    """Build the state of a snapshot in an empty folder, and check it; a failure removes the folder. So many other
    processes take a part of the work on a large one.
    """
    drop = partial(shutil.rmtree, folder, ignore_errors=True)
    with (
        on_error(drop),
        Store.open(folder, STORED_TABLES, space=space) as store,
        processes_beside(network, processes if snapshot.size >= FEWEST_RECORDS else 0) as beside,
    ):
        with KeptProjections(folder) if terms.with_metadata else nullcontext() as kept:
            head = load(store, snapshot, network, terms.residual, kept, beside)
        if head is not None:
            store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=head.number, packed=head.packed))
        _require_block(store, terms.needed_block)
        provenance = provenance_of(store) or Provenance(snapshot.head_number)
        record_provenance(store, replace(provenance, sources=terms.sources, checksum=terms.checksum))
        store.commit()
        if not (terms.audits_later and is_long(snapshot)):
            require_sound(store, network, checked, beside)
            store.commit()
        return provenance_of(store) or provenance


def _require_block(store: Store, needed: tuple[int, str] | None) -> None:
    """The state knows the ids of its latest 65,536 blocks."""
    if needed is None:
        return
    number, block_id = needed
    found = StateBlocks.of(store).id_at(number)
    if found == NO_BLOCK:
        raise SnapshotError(
            f"the snapshot does not tell the id of block {number}, which is irreversible here: its chain cannot be "
            "compared with ours"
        )
    if found.hex() != block_id:
        raise SnapshotError(
            f"block {number} of the chain of the snapshot is {found.hex()}, and the irreversible block here is "
            f"{block_id}: it is another chain"
        )
