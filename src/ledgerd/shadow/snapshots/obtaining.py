"""Where snapshots of a node come from: its endpoint, from which they are fetched, or a path on this machine."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.shadow.settings import SnapshotPlace
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.client import ask, download
from ledgerd.snapshot.exchange.download import check
from ledgerd.snapshot.file.directory import StoredSnapshot, kept_in, number_in
from ledgerd.supervision.this_process import on_a_loop


class OfferedSnapshot(NamedTuple):
    """The snapshot that is compared next."""

    number: int
    """Its block, by the server or the name of the file; the content of the file decides."""
    place: SnapshotPlace


def numbers_at(place: SnapshotPlace) -> set[int]:
    """The blocks of which there are snapshots."""
    if isinstance(place, Endpoint):
        return {_asked(place)}
    return {each.number for each in _files(place)}


def offered_at(place: SnapshotPlace, preferred: Collection[int], above: int, most_bytes: int) -> OfferedSnapshot | None:
    """The newest above a block; of files, the newest that there is of ours too, if there is one."""
    if isinstance(place, Endpoint):
        number = _asked(place, most_bytes)
        return OfferedSnapshot(number, place) if number > above else None
    found = sorted((each for each in _files(place) if each.number > above), reverse=True)
    best = next((each for each in found if each.number in preferred), found[0] if found else None)
    return None if best is None else OfferedSnapshot(best.number, best.path)


def obtained(offer: OfferedSnapshot, folder: Path, most_bytes: int) -> Path:
    """The path of the file: fetched into a folder, or where it is. `SnapshotError`, or one of `FAULTS`."""
    place = offer.place
    if isinstance(place, Endpoint):
        folder.mkdir(parents=True)
        fetched = on_a_loop(lambda: download(place, folder, offer.number - 1, most=most_bytes))
        return fetched.path
    size = place.stat().st_size
    if size > most_bytes:
        raise SnapshotError(f"{place} has {size} bytes, where {most_bytes} are the most")
    return place


def _asked(place: Endpoint, most_bytes: int | None = None) -> int:
    info = on_a_loop(lambda: ask(place))
    if most_bytes is not None:
        check(info, most_bytes)
    return info.number


def _files(place: Path) -> list[StoredSnapshot]:
    if not place.exists() or place.is_dir():
        return list(kept_in(place))
    number = number_in(place.name)
    if not number:
        raise SnapshotError(f"{place} is neither a folder nor named as snapshots are: snapshot-block-N.vizjson")
    return [StoredSnapshot(number, place)]
