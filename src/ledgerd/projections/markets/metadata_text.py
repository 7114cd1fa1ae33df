"""The metadata of a market, read from its creator's text, which may be anything (spec 11, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.legacy import parse
from ledgerd.codec.json.scalars import as_bool, as_int64, as_string
from ledgerd.codec.json.text import Json, text_bytes
from ledgerd.projections.tables.market_records import PmMarketMeta

TRUE_WORDS = ("1", "true")


def metadata_of(text: str) -> PmMarketMeta:
    """The fields of a text; what cannot be read, and all that is read after it, is empty."""
    meta = PmMarketMeta()
    try:
        given = parse(text_bytes(text))
        if isinstance(given, dict):
            for name, convert in _FIELDS.items():
                source = _OTHER_NAMES.get(name, name) if name not in given else name
                if source in given:
                    setattr(meta, name, convert(given[source]))
    except DecodeError:
        pass  # what was read before it stays, as in the reference
    return meta


def _joined(value: Json) -> str:
    """A list as one text, its elements with commas between them; empty ones in front vanish."""
    if isinstance(value, str):
        return value
    joined = ""
    for element in value if isinstance(value, list) else ():
        joined += ("," if joined else "") + as_string(element)
    return joined


def _is_child(value: Json) -> bool:
    for convert in (as_bool, as_int64):
        try:
            return bool(convert(value))
        except DecodeError:
            continue
    return as_string(value) in TRUE_WORDS


_FIELDS: dict[str, Callable[[Json], str | bool]] = {
    "category": as_string,
    "subcategory": as_string,
    "tags": _joined,
    "banned_jurisdictions": _joined,
    "title": as_string,
    "image": as_string,
    "condition_id": as_string,
    "description": as_string,
    "event": as_string,
    "event_title": as_string,
    "child": _is_child,
}
"""The fields of metadata, in the order in which they are read."""

_OTHER_NAMES = {"banned_jurisdictions": "jurisdictions_banned"}
