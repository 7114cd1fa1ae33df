"""Variable-length unsigned numbers: seven bits a byte, low group first (spec 01, section 2.2)."""

from __future__ import annotations

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading

MASK32 = 0xFFFFFFFF
LONGEST = 10
"""Bytes that a varint may take. Five hold 32 bits; the shifts of later ones are reduced modulo 32, as the
reference's processors do, and nothing ever sends those (spec 01, section 2.2, quirk)."""

ONE_BYTE = tuple(bytes([value]) for value in range(128))


def pack_varint(value: int) -> bytes:
    if value < 128:
        return ONE_BYTE[value]
    out = bytearray()
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(buf: bytes, pos: int, reading: Reading) -> tuple[int, int]:
    """The number at `pos`, and where it ends; an overlong form is read and noted."""
    value = shift = 0
    start = pos
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << (shift & 31) & MASK32
        if byte < 128:
            break
        shift += 7
        if pos - start >= LONGEST:
            raise DecodeError("a length or tag of more than ten bytes")
    if len(pack_varint(value)) != pos - start:
        reading.normalised = True
    return value, pos
