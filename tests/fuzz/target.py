"""What must hold for any bytes and any JSON text: a value that is written canonically, or the one documented error.

The tests of mutations and the fuzzer both hand their inputs to these functions.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from ledgerd.codec import Codec, CodecError, DecodeError, codec_of
from ledgerd.codec.json.legacy import is_valid, parse
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.properties import VersionedChainProperties
from ledgerd.protocol.types.authority import Authority

CODECS: tuple[Codec[Any], ...] = tuple(
    codec_of(each) for each in (Transaction, Block, Operation, SignedHeader, Authority, VersionedChainProperties)
)


class Broken(AssertionError):
    """A value that is not written as it was read."""


def survive(data: bytes) -> None:
    """For the fuzzer: the first byte chooses the codec, and whether bytes or JSON follow."""
    if data:
        direction, chosen = divmod(data[0], 128)
        codec = CODECS[chosen % len(CODECS)]
        if direction:
            survive_json(codec, data[1:])
        else:
            survive_bytes(codec, data[1:])


def survive_bytes(codec: Codec[Any], data: bytes) -> bool:
    """Whether the bytes made a value; then it is canonical, and has a JSON form or is refused one."""
    try:
        value = codec.decode(data)
    except DecodeError:
        return False
    _is_canonical(codec, value)
    try:
        text = codec.to_json(value)
    except CodecError:
        return True
    json.loads(text)
    # Of odd values JSON says too little to be read as the same, or at all.
    survive_json(codec, text.encode("utf-8", "surrogateescape"))
    return True


def survive_json(codec: Codec[Any], text: bytes) -> bool:
    """Whether the text made a value; then it is canonical."""
    with suppress(DecodeError):
        is_valid(text)
    try:
        value = codec.from_json(parse(text, unicode_escapes=True))
    except DecodeError:
        return False
    _is_canonical(codec, value)
    return True


def _is_canonical(codec: Codec[Any], value: Any) -> None:
    written = codec.encode(value)
    again = codec.decode_exactly(written)
    if again != value:
        raise Broken(f"{again!r} instead of {value!r}")
    if codec.encode(again) != written:
        raise Broken(f"written in two ways: {value!r}")
    if getattr(value, "packed", written) != written:
        raise Broken(f"keeps other bytes than it is written as: {value!r}")
