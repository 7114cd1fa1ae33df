"""What the fuzzer has found interesting so far makes a value or the documented error; a fault would be seen."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from ledgerd.codec import Codec, DecodeError, codec_of, kind_of
from ledgerd.codec.json.legacy import parse
from ledgerd.codec.types.variants import NamedVariant
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.authority import Authority
from tests.fuzz.corpus import inputs
from tests.fuzz.target import CODECS, Broken, survive, survive_bytes, survive_json


class Forgetful(Codec[Any]):
    """Writes an authority without its threshold."""

    def encode(self, value: Any) -> bytes:
        return bytes(4) + super().encode(value)[4:]


def test_no_input_of_the_corpus_breaks_anything() -> None:
    for data in inputs():
        survive(data)


def test_the_corpus_reaches_every_codec_in_both_directions() -> None:
    reached = set()
    for data in filter(None, inputs()):
        is_json, chosen = divmod(data[0], 128)
        place = chosen % len(CODECS)
        if (survive_json if is_json else survive_bytes)(CODECS[place], data[1:]):
            reached.add((is_json, place))

    assert reached == {(is_json, place) for is_json in (0, 1) for place in range(len(CODECS))}


def test_the_corpus_has_every_operation_of_hardforks_14_and_15_as_bytes_and_as_json() -> None:
    found, place = set(), CODECS.index(codec_of(Operation))
    for data in filter(None, inputs()):
        is_json, chosen = divmod(data[0], 128)
        if chosen == place:
            with suppress(DecodeError):
                found.add((is_json, type(_read(CODECS[place], data[1:], is_json=bool(is_json)))))

    variant = kind_of(Operation)
    assert isinstance(variant, NamedVariant)
    new = [variant.kinds[tag].record for tag in range(66, 106)]
    assert not [(is_json, each) for is_json in (0, 1) for each in new if (is_json, each) not in found]


def _read(codec: Codec[Any], data: bytes, *, is_json: bool) -> Any:
    return codec.from_json(parse(data, unicode_escapes=True)) if is_json else codec.decode(data)


def test_a_codec_that_writes_something_else_is_found() -> None:
    with pytest.raises(Broken, match="instead of"):
        survive_bytes(Forgetful(kind_of(Authority)), bytes.fromhex("010000000000"))
