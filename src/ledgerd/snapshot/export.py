"""Writing a snapshot: a view of the state becomes a file that the reference reads (spec 03, section 27).

What depends on the clock or on the network is handed in, so that the same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ledgerd.codec import codec_of
from ledgerd.codec.json_text import Json, dumps
from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import NO_BLOCK, ChainId, TransactionId
from ledgerd.protocol.time_text import time_text
from ledgerd.snapshot.container import StateWriter
from ledgerd.snapshot.sections import HEAD_BLOCK, SECTIONS, Section
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.transactions import KnownTransaction

if TYPE_CHECKING:
    from ledgerd.state import View

VERSION = 1
_RECORDS_A_PIECE = 512


class Occasion(NamedTuple):
    """What a snapshot says of itself besides the state."""

    chain_id: ChainId
    created: int
    """When it is written, in seconds since 1970."""
    head_block: Block | None = None
    """The block at which the state stands, where it is known."""
    pending: Collection[TransactionId] = frozenset()
    """Transactions that no block has taken yet; they are left out (spec 03, section 27.3)."""


def export(view: View, file: BinaryIO, occasion: Occasion) -> str:
    """Write a snapshot of a state into a file; returns the checksum of the state."""
    writer = StateWriter()
    counts: dict[str, Json] = {}
    writer.add("{")
    for section in SECTIONS:
        writer.add(f'{"," if counts else ""}"{section.name}":[')
        counts[section.name] = _add_section(view, section, occasion.pending, writer.add)
        writer.add("]")
    if occasion.head_block is not None:
        writer.add(f',"{HEAD_BLOCK}":{codec_of(Block).to_json(occasion.head_block)}')
    writer.add("}")
    checksum = writer.checksum
    file.writelines(writer.finish(_header(view, occasion, checksum, counts)))
    return checksum


def _add_section(
    view: View, section: Section[Any], pending: Collection[TransactionId], add: Callable[[str], None]
) -> int:
    """The objects of a section, so many at a time; returns how many there are."""
    count = 0
    batch: list[str] = []
    for text in _texts(view, section, pending):
        batch.append(text)
        if len(batch) == _RECORDS_A_PIECE:
            add(("," if count else "") + ",".join(batch))
            count += len(batch)
            batch = []
    if batch:
        add(("," if count else "") + ",".join(batch))
    return count + len(batch)


def _texts(view: View, section: Section[Any], pending: Collection[TransactionId]) -> Iterator[str]:
    for entity in view.scan(section.table):
        if isinstance(entity, KnownTransaction) and entity.trx_id in pending:
            continue
        yield section.text(entity)


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
