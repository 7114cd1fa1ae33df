"""Writes the state as a snapshot that the reference reads (spec 03, section 27). What depends on clock or network is
passed in, so that the same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ledgerd.basics.durable import put_in_place
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.offline.audit import HOLDING_TABLES, TokenTally
from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json, dumps
from ledgerd.projections.reading import reading_both
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.identifiers import NO_BLOCK, ChainId, TransactionId
from ledgerd.protocol.types.time_text import time_text
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.container import StateWriter
from ledgerd.snapshot.file.directory import PARTIAL
from ledgerd.snapshot.file.loadable import Loadability
from ledgerd.snapshot.file.sections import HEAD_BLOCK, METADATA, SECTIONS, SnapshotSection
from ledgerd.state import View
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, HARDFORK_PROPERTIES
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS, REVERSIBLE_BY_NUMBER, KnownTransaction

VERSION = 1
WITH_AGENTS = 15
"""The hardfork from which on a snapshot must have its head block."""
_RECORDS_A_PIECE = 512


class Occasion(NamedTuple):
    """The facts of a snapshot besides the state."""

    chain_id: ChainId
    created: int
    """The time of writing, in seconds since 1970."""
    head_block: Block | None = None
    pending: Collection[TransactionId] = frozenset()
    """Pending transactions, which are left out (spec 03, section 27.3)."""
    projections: View | None = None
    """The view of the metadata of markets, if that is written (spec 11, section 8.1)."""


class Exported(NamedTuple):
    """A written snapshot."""

    checksum: str
    loadability: Loadability
    tally: TokenTally


class Written(NamedTuple):
    """A written snapshot."""

    number: int
    """The head block of its state, which may be later than the block of the request."""
    size: int
    exported: Exported


def create(
    state: Path, logs: Path, network: ChainParameters, path: Path, created: int, *, with_metadata: bool = False
) -> Written:
    """Write the last commit of a state, while a node writes to it; the file gets its name when it is complete."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with reading_both(state) as (view, kept):
            number = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number
            metadata = kept if with_metadata else None
            occasion = Occasion(network.chain_id, created, _block(view, logs, number), projections=metadata)
            with partial.open("wb") as file:
                exported = export(view, file, occasion, path.parent)
            size = partial.stat().st_size
        put_in_place(partial, path)
    except OSError as problem:
        raise SnapshotError(f"{path} cannot be written: {problem.strerror or problem}") from problem
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return Written(number, size, exported)


def _block(view: View, logs: Path, number: int) -> Block | None:
    kept = view.lookup(REVERSIBLE_BY_NUMBER, number)
    packed = None if kept is None else kept.packed
    for kind in (RollingBlockLogReader, BlockLogReader):
        if packed is None:
            log = kind.open(logs)
            packed = log.read(number)
            log.close()
    return None if packed is None else codec_of(Block).decode_exactly(packed)


def export(view: View, file: BinaryIO, occasion: Occasion, spool: Path | None = None) -> Exported:
    _require_head(view, occasion.head_block)
    counts: dict[str, Json] = {}
    loadability, tally = Loadability(), TokenTally()
    with StateWriter(spool) as writer:

        def frame(text: str) -> None:
            loadability.frame(text)
            writer.add(text)

        frame("{")
        metadata = () if occasion.projections is None else ((METADATA, occasion.projections),)
        for section, source in (*((each, view) for each in SECTIONS), *metadata):
            frame(f'{"," if counts else ""}"{section.name}":[')
            records = _records(source, section, occasion.pending, tally)
            counts[section.name] = _add_records(section.name, records, writer.add, loadability)
            frame("]")
        if occasion.head_block is not None:
            text = codec_of(Block).to_json(occasion.head_block)
            loadability.record(HEAD_BLOCK, occasion.head_block.number, text)
            writer.add(f',"{HEAD_BLOCK}":{text}')
        frame("}")
        checksum = writer.checksum
        file.writelines(writer.finish(_header(view, occasion, checksum, counts)))
    return Exported(checksum, loadability, tally)


def _require_head(view: View, head_block: Block | None) -> None:
    """Header and head block must belong to the same state (spec 11, section 8.3)."""
    if head_block is None:
        if view.get(HARDFORK_PROPERTIES, 0).last_hardfork >= WITH_AGENTS:
            raise SnapshotError(
                "the block at which the state stands is in no log, and no node takes a snapshot without it: write one "
                "after the next block"
            )
    elif head_block.id != view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_id:
        raise SnapshotError("the block that is to go with the state is another than its head")


def _add_records(
    section: str, records: Iterator[tuple[int, str]], add: Callable[[str], None], loadability: Loadability
) -> int:
    count = 0
    while batch := list(islice(records, _RECORDS_A_PIECE)):
        text = ",".join([each for _, each in batch])
        loadability.records(section, batch, text)
        add(f",{text}" if count else text)
        count += len(batch)
    return count


def _records(
    view: View, section: SnapshotSection[Any], pending: Collection[TransactionId], tally: TokenTally
) -> Iterator[tuple[int, str]]:
    text_of, holds = section.text, section.table in HOLDING_TABLES
    entities = _known(view, pending) if section.table is KNOWN_TRANSACTIONS else view.scan(section.table)
    for entity in entities:
        if holds:
            tally.add(entity)
        yield entity.id, text_of(entity)


def _known(view: View, pending: Collection[TransactionId]) -> Iterator[KnownTransaction]:
    """The transactions of blocks that have not expired; of those that have, some may not be forgotten yet."""
    now = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time
    return (known for known in view.scan(KNOWN_TRANSACTIONS) if known.expiration >= now and known.trx_id not in pending)


def _header(view: View, occasion: Occasion, checksum: str, counts: dict[str, Json]) -> str:
    head = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    return dumps(
        {
            "version": VERSION,
            "chain_id": occasion.chain_id.hex(),
            "snapshot_block_num": head.head_block_number,
            "snapshot_block_id": head.head_block_id.hex(),
            "snapshot_block_time": time_text(head.time),
            "last_irreversible_block_num": head.last_irreversible_block_num,
            "last_irreversible_block_id": NO_BLOCK.hex(),
            "snapshot_creation_time": time_text(occasion.created),
            "payload_checksum": checksum,
            "object_counts": dict(sorted(counts.items())),
        }
    )
