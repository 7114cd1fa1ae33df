"""The hash functions of the protocol; RIPEMD-160 in Python too, for an OpenSSL that was built without it."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

_MASK = 0xFFFFFFFF
_BLOCK = 64
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)

_RHO = (7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8)
"""The permutation that takes the order of the message words from one round of sixteen steps to the next."""

_SHIFTS = (
    (11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8),
    (12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7),
    (13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9),
    (14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6),
    (15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5),
)
"""The bits by which a step rotates, by round and message word. Both lines use the same."""

_LEFT_CONSTANTS = (0x00000000, 0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xA953FD4E)
_RIGHT_CONSTANTS = (0x50A28BE6, 0x5C4DD124, 0x6D703EF3, 0x7A6D76E9, 0x00000000)


def _orders(first: list[int]) -> list[list[int]]:
    orders = [first]
    while len(orders) < len(_SHIFTS):
        orders.append([_RHO[word] for word in orders[-1]])
    return orders


_LEFT_ORDERS = _orders(list(range(16)))
_RIGHT_ORDERS = _orders([(9 * word + 5) % 16 for word in range(16)])


def _mix(function: int, x: int, y: int, z: int) -> int:
    """One of the five bitwise functions. The left line takes them in order, the right one backwards."""
    match function:
        case 0:
            return x ^ y ^ z
        case 1:
            return (x & y) | (~x & z)
        case 2:
            return (x | ~y) ^ z
        case 3:
            return (x & z) | (y & ~z)
        case _:
            return x ^ (y | ~z)


def _rotate(value: int, count: int) -> int:
    value &= _MASK
    return (value << count | value >> (32 - count)) & _MASK


def _line(
    chain: tuple[int, ...],
    words: tuple[int, ...],
    orders: list[list[int]],
    functions: range,
    constants: tuple[int, ...],
) -> tuple[int, ...]:
    """Run one of the two parallel lines of eighty steps over a block."""
    a, b, c, d, e = chain
    for order, shifts, function, constant in zip(orders, _SHIFTS, functions, constants, strict=True):
        for word in order:
            mixed = _rotate(a + _mix(function, b, c, d) + words[word] + constant, shifts[word])
            a, b, c, d, e = e, (mixed + e) & _MASK, b, _rotate(c, 10), d
    return a, b, c, d, e


def portable_ripemd160(data: bytes) -> bytes:
    padding = bytes((_BLOCK - 9 - len(data)) % _BLOCK)
    padded = data + b"\x80" + padding + struct.pack("<Q", 8 * len(data))
    chain: tuple[int, ...] = _START
    for words in struct.iter_unpack("<16I", padded):
        left = _line(chain, words, _LEFT_ORDERS, range(5), _LEFT_CONSTANTS)
        right = _line(chain, words, _RIGHT_ORDERS, range(4, -1, -1), _RIGHT_CONSTANTS)
        chain = tuple((chain[(i + 1) % 5] + left[(i + 2) % 5] + right[(i + 3) % 5]) & _MASK for i in range(len(chain)))
    return struct.pack("<5I", *chain)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


def fastest_ripemd160() -> Callable[[bytes], bytes]:
    """OpenSSL's function, or the portable one where OpenSSL was built without it or may not use it."""
    try:
        blank = hashlib.new("ripemd160", usedforsecurity=False)
    except ValueError:
        return portable_ripemd160

    def ripemd160_of_openssl(data: bytes) -> bytes:
        # Looking an algorithm up by name costs more than hashing a key; copying a blank state does not.
        state = blank.copy()
        state.update(data)
        return state.digest()

    return ripemd160_of_openssl


ripemd160 = fastest_ripemd160()
"""20 bytes; the checksum of a public key's text is made of it."""
