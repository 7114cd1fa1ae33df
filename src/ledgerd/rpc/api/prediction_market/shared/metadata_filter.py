"""Which metadata of markets says what a list asks for, told by its bytes (spec 11, section 6.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.codec.varint import pack_varint
from ledgerd.state.keys import text_bytes
from ledgerd.state.objects.market_records import (
    CATEGORY_AT,
    FLAG_OF_CHILD,
    META_BANNED,
    META_CATEGORY,
    META_SUBCATEGORY,
    META_TAGS,
    meta_text,
)

ONE_BYTE = 127
"""The longest text whose length is stored in one byte."""

MARK = "\u0100"
"""Stands for no byte."""

MOST_LABELS = 10_000
"""Remembered within a request."""


class MetadataFilter(NamedTuple):
    """What metadata must say."""

    category: str
    jurisdiction: str
    """Where it must not be banned, if anywhere."""
    subcategory: str
    """Any if it is empty, and so for the tag."""
    tag: str
    hide_children: bool

    @property
    def category_bytes(self) -> bytes:
        """What is compared of the category: what stands behind a NUL is not."""
        return text_bytes(self.category).partition(b"\0")[0]

    @property
    def reads_labels(self) -> bool:
        """Whether more is asked for than a category, with its children or without."""
        return bool(self.jurisdiction or self.subcategory or self.tag) or "\0" in self.category

    def condition(self) -> Callable[[bytes], bool]:
        """Whether metadata, as its bytes, says so. Many markets have the same labels, which are judged once."""
        return _condition(self)


def _condition(wanted: MetadataFilter) -> Callable[[bytes], bool]:
    category = wanted.category_bytes
    exact, cut = pack_varint(len(category)) + category, category + b"\0"
    behind, hides_children, fits_labels = CATEGORY_AT + len(exact), wanted.hide_children, _label_condition(wanted)
    known: dict[bytes, bool] = {}

    def fits(raw: bytes) -> bool:
        if hides_children and raw[FLAG_OF_CHILD]:
            return False
        if not raw.startswith(exact, CATEGORY_AT):
            # What stands behind a NUL is not compared.
            if not raw.startswith(cut, CATEGORY_AT + 1) and raw[CATEGORY_AT] <= ONE_BYTE:
                return False
            return meta_text(raw, META_CATEGORY).startswith(cut) and fits_labels(*_labels(raw))
        try:
            tags = behind + raw[behind] + 1
            banned = tags + raw[tags] + 1
            end = banned + raw[banned] + 1
        except IndexError:  # a length of two bytes was taken for one of one
            return fits_labels(*_labels(raw))
        labels = raw[behind:end]
        answer = known.get(labels)
        if answer is None:
            if raw[behind] > ONE_BYTE or raw[tags] > ONE_BYTE or raw[banned] > ONE_BYTE:
                return fits_labels(*_labels(raw))
            answer = fits_labels(raw[behind + 1 : tags], raw[tags + 1 : banned], raw[banned + 1 : end])
            if len(known) < MOST_LABELS:
                known[labels] = answer
        return answer

    return fits


def _labels(raw: bytes) -> tuple[bytes, bytes, bytes]:
    return meta_text(raw, META_SUBCATEGORY), meta_text(raw, META_TAGS), meta_text(raw, META_BANNED)


def _label_condition(wanted: MetadataFilter) -> Callable[[bytes, bytes, bytes], bool]:
    """The same of what follows the category: the subcategory, the tags, and where it must not be shown."""
    subcategory, jurisdiction = text_bytes(wanted.subcategory), text_bytes(wanted.jurisdiction)
    has_tag, is_banned = part_test(text_bytes(wanted.tag).lower()), part_test(jurisdiction)

    def fits(of_subcategory: bytes, tags: bytes, banned: bytes) -> bool:
        if subcategory and of_subcategory != subcategory:
            return False
        if jurisdiction and is_banned(banned):
            return False
        return not wanted.tag or has_tag(tags.lower())

    return fits


def part_test(token: bytes) -> Callable[[bytes], bool]:
    """Whether a token is a part of a list that is joined with commas, at a cost that no list can raise.

    The token may have commas itself. Its places in the list are those that a search finds which goes on behind each.
    """
    between = b",%b," % token
    if b"," not in token:
        return lambda joined: between in b",%b," % joined
    text = token.decode("latin-1")
    marked = text[0] + MARK + text[-1]
    wanted = f",{marked},"

    def has(joined: bytes) -> bool:
        # `replace` goes on behind each place too, and what stands at the ends of each is left.
        return between in b",%b," % joined and wanted in f",{joined.decode('latin-1').replace(text, marked)},"

    return has
