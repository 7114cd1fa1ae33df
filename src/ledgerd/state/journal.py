"""The journal of undo on the disk: what each reversible block changed, so that a restarted node can undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ledgerd.state.undo import TableUndo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledgerd.state.cache import TableCache
    from ledgerd.state.sessions import Records


class TableJournal(msgspec.Struct, array_like=True, frozen=True):
    """A table's part of a session, with former objects as bytes."""

    number: int
    next_id: int
    next_ranks: tuple[int, ...]
    created: tuple[int, ...]
    removed: dict[int, bytes]
    modified: dict[int, bytes]
    ranks: dict[int, tuple[int, ...]]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[TableJournal, ...])


def encode_session(records: Records) -> bytes:
    """The bytes of a session."""
    return _encoder.encode([_table_journal(cache, undo) for cache, undo in records.items()])


def _table_journal(cache: TableCache[Any], undo: TableUndo[Any]) -> TableJournal:
    modified = {object_id: cache.image_bytes(object_id, image) for object_id, image in undo.modified.items()}
    removed = {
        object_id: b"" if object_id in modified else cache.table.codec.encode(entity)
        for object_id, entity in undo.removed.items()
    }
    return TableJournal(
        cache.table.number,
        undo.next_id,
        undo.next_ranks,
        tuple(undo.created),
        removed,
        modified,
        undo.ranks,
    )


def decode_session(raw: bytes, caches: Iterable[TableCache[Any]]) -> Records:
    """A session from its bytes."""
    by_number = {cache.table.number: cache for cache in caches}
    records: Records = {}
    for journal in _decoder.decode(raw):
        cache = by_number[journal.number]
        decode = cache.table.codec.decode
        undo: TableUndo[Any] = TableUndo(journal.next_id, journal.next_ranks)
        undo.created = set(journal.created)
        undo.ranks = dict(journal.ranks)
        undo.modified = {object_id: decode(body) for object_id, body in journal.modified.items()}
        undo.removed = {
            object_id: decode(body) if body else undo.modified[object_id].__copy__()
            for object_id, body in journal.removed.items()
        }
        records[cache] = undo
    return records
