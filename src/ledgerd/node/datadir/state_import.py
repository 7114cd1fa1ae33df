"""Builds the state of a data directory from a snapshot; the old state stays in use until the new one is complete.

For the start of a node, for rebuilding a damaged state, and for `ledgerd snapshot import`.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

from ledgerd.basics.closing import on_error
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.codec import codec_of
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import MOST_PROCESSES, build_state, read_snapshot
from ledgerd.snapshot.importing.import_progress import ImportProgress
from ledgerd.snapshot.settings import ANY, Terms
from ledgerd.supervision.processes import processors_beside

log = logging.getLogger(__name__)

USED_SUFFIX = ".used"


def import_state(files: StateFiles, path: Path, network: ChainParameters, terms: Terms = ANY) -> int:
    """Replace the state of a node by that of a snapshot; returns the number of its head block. `SnapshotError` names
    the file: it is unreadable, not a snapshot of this network, or does not fit the block log.
    """
    try:
        return _imported(files, path, network, terms)
    except SnapshotError as problem:
        if str(path) in str(problem):
            raise
        raise SnapshotError(f"{path}: {problem}") from problem


def _imported(files: StateFiles, path: Path, network: ChainParameters, terms: Terms) -> int:
    began = time.monotonic()
    snapshot, line = read_snapshot(path), ImportProgress()
    snapshot.progress = lambda done: line.at(done, snapshot.size)
    _require_no_gap(files.logs, snapshot)
    with on_error(files.give_up):
        processes = processors_beside(MOST_PROCESSES)
        provenance = build_state(files.fresh_folder(), snapshot, network, files.space, terms, processes=processes)
    files.put_in_place()
    irreversible = snapshot.header.get("last_irreversible_block_num", 0)
    for text in provenance.surpluses():
        log.info("%s", text)
    log.info("Snapshot loaded successfully in %(seconds).1f sec", {"seconds": time.monotonic() - began})
    log.info(
        "LIB promoted to head block %(block)d (was %(irreversible)s) for P2P sync",
        {"block": snapshot.head_number, "irreversible": irreversible},
    )
    return snapshot.head_number


def _require_no_gap(folder: Path, snapshot: Snapshot) -> None:
    """A full block log has no holes: it must hold the snapshot's block, or not be there."""
    full = BlockLogReader.open(folder)
    try:
        packed = full.read(snapshot.head_number) if snapshot.head_number <= full.head_number else None
        if not full.head_number or (
            packed is not None and codec_of(Block).decode_exactly(packed).id == snapshot.head_id
        ):
            return
        reason = "has another block there" if packed is not None else f"ends at block {full.head_number}"
    finally:
        full.close()
    raise SnapshotError(
        f"the snapshot stands at block {snapshot.head_number}, and the block log in {folder} {reason}: move block_log "
        "and block_log.index away to begin with the snapshot, or use --replay-blockchain to keep the log"
    )


def set_used(path: Path) -> None:
    """Rename an imported snapshot, so that the next start does not import it again."""
    try:
        path.replace(path.with_name(path.name + USED_SUFFIX))
    except OSError as problem:
        log.warning(
            "%(file)s cannot be renamed to %(name)s%(suffix)s: %(reason)s",
            {"file": path, "name": path.name, "suffix": USED_SUFFIX, "reason": problem.strerror},
        )
