"""What is generated can be read: in tracebacks, and printed as a whole."""

from __future__ import annotations

import linecache
import traceback
from typing import Any, cast

import msgspec
import pytest

from ledgerd.codec import DecodeError, codec_of, record_kind
from ledgerd.codec.listing import DIRECTIONS, listing
from ledgerd.codec.types.numbers import UInt32


class Parcel(msgspec.Struct):
    """A record that no other test compiles."""

    weight: UInt32
    label: str


def test_a_traceback_shows_the_generated_line_that_failed() -> None:
    with pytest.raises(AttributeError) as caught:
        codec_of(Parcel).encode(cast("Parcel", object()))

    lines = "".join(traceback.format_exception(caught.value))
    assert "in write_Parcel" in lines
    assert "(v.weight" in lines.partition("in write_Parcel")[2]


def test_a_documented_error_shows_where_the_generated_code_raised_it() -> None:
    with pytest.raises(DecodeError) as caught:
        codec_of(Parcel).decode(b"\x01")

    lines = "".join(traceback.format_exception(caught.value))
    assert "in read_Parcel" in lines
    assert " from None" in lines.partition("in read_Parcel")[2]


def test_the_text_stays_when_the_line_cache_is_checked() -> None:
    file = record_kind(Parcel).reader.__code__.co_filename

    linecache.checkcache()

    assert linecache.getlines(file)[0] == "def read_Parcel(buf, pos, reading):\n"


def test_two_records_of_one_name_keep_their_own_texts() -> None:
    def local(kind: Any) -> type[msgspec.Struct]:
        return msgspec.defstruct("Same", [("only", kind)])

    number, text = record_kind(local(UInt32)), record_kind(local(str))

    assert listing(number, ("read",)) != listing(text, ("read",))
    assert listing(number, ("read",)) == listing(number, ("read",))


def test_a_listing_has_every_direction_and_says_what_its_names_stand_for() -> None:
    text = listing(record_kind(Parcel))

    for direction in DIRECTIONS:
        assert f"def {direction}_Parcel(" in text
    assert f"{Parcel.__module__}.Parcel\n" in text
    compile(text, "listing", "exec")


def test_a_listing_of_one_direction_has_no_other() -> None:
    assert listing(record_kind(Parcel), ("print",)).count("def ") == 1
