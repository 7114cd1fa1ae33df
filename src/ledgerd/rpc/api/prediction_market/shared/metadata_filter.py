"""Which metadata of markets says what a list asks for, told by its bytes (spec 11, section 6.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.codec.json.text import text_bytes
from ledgerd.projections.tables.market_records import MetaLabels, meta_is_child, meta_labels, meta_span

MARK = "\u0100"
"""Stands for no byte."""

MOST_LABELS = 10_000
"""Remembered within a request."""


class MetadataFilter(NamedTuple):
    """The metadata that is looked for."""

    category: str
    jurisdiction: str
    """A jurisdiction in which the market must not be banned; empty for any."""
    subcategory: str
    """A subcategory; empty for any. The same holds for the tag."""
    tag: str
    hide_children: bool

    @property
    def category_bytes(self) -> bytes:
        """The part of the category that is compared: up to a NUL."""
        return text_bytes(self.category).partition(b"\0")[0]

    @property
    def reads_labels(self) -> bool:
        return bool(self.jurisdiction or self.subcategory or self.tag) or "\0" in self.category

    def condition(self) -> Callable[[bytes], bool]:
        """Whether metadata, as its bytes, says so. Many markets have the same labels, which are judged once."""
        return _condition(self)


def _condition(wanted: MetadataFilter) -> Callable[[bytes], bool]:
    hides_children, fits_labels = wanted.hide_children, _label_condition(wanted)
    known: dict[bytes, bool] = {}

    def fits(raw: bytes) -> bool:
        span = meta_span(raw)
        answer = known.get(span)
        if answer is None:
            answer = fits_labels(meta_labels(raw))
            if len(known) < MOST_LABELS:
                known[span] = answer
        return answer and not (hides_children and meta_is_child(raw))

    return fits


def _label_condition(wanted: MetadataFilter) -> Callable[[MetaLabels], bool]:
    category, cut = wanted.category_bytes, wanted.category_bytes + b"\0"
    subcategory, jurisdiction = text_bytes(wanted.subcategory), text_bytes(wanted.jurisdiction)
    has_tag, is_banned = part_test(text_bytes(wanted.tag).lower()), part_test(jurisdiction)

    def fits(labels: MetaLabels) -> bool:
        if labels.category != category and not labels.category.startswith(cut):
            return False
        if subcategory and labels.subcategory != subcategory:
            return False
        if jurisdiction and is_banned(labels.banned_jurisdictions):
            return False
        return not wanted.tag or has_tag(labels.tags.lower())

    return fits


def part_test(token: bytes) -> Callable[[bytes], bool]:
    """Whether a token is a part of a list that is joined with commas, at a cost that no list can raise.

    The token may have commas itself. Its places in the list are those that a search finds which goes on after each.
    """
    between = b",%b," % token
    if b"," not in token:
        return lambda joined: between in b",%b," % joined
    text = token.decode("latin-1")
    marked = text[0] + MARK + text[-1]
    wanted = f",{marked},"

    def has(joined: bytes) -> bool:
        # `replace` goes on after each place too, and what stands at the ends of each is left.
        return between in b",%b," % joined and wanted in f",{joined.decode('latin-1').replace(text, marked)},"

    return has
