"""Integers as wide as the reference keeps them: where it wraps, these wrap; where it truncates, these truncate."""

from __future__ import annotations

from ledgerd.pricing.errors import DivisionByZero

_MAX_INT64 = 2**63 - 1
_MAX_UINT64 = 2**64 - 1
_MAX_UINT128 = 2**128 - 1


def int64(value: int) -> int:
    """A plain 64-bit integer: wraps (spec 09, section 1)."""
    if -_MAX_INT64 <= value <= _MAX_INT64:
        return value
    value &= _MAX_UINT64
    return value - 2**64 if value > _MAX_INT64 else value


def uint64(value: int) -> int:
    """A 64-bit integer read as an unsigned one (spec 08, section 1.1: `u`)."""
    return value & _MAX_UINT64


def uint128(value: int) -> int:
    """An integer modulo 2^128; a negative one is sign extended (spec 02, section 1.2)."""
    return value & _MAX_UINT128


def quotient128(dividend: int, divisor: int) -> int:
    """The lower 64 bits of a 128-bit quotient, read as signed (spec 08, section 1.1: `lo`)."""
    divisor &= _MAX_UINT128
    if divisor == 0:
        raise DivisionByZero
    return int64((dividend & _MAX_UINT128) // divisor)


def mul_div(a: int, b: int, c: int) -> int:
    """`a * b // c` through 128 bits, for 64-bit `a` and `b` (spec 09, section 1: `md`)."""
    return quotient128((a & _MAX_UINT64) * (b & _MAX_UINT64), c)


def truncated_quotient(a: int, b: int) -> int:
    """`a / b` truncated toward zero (spec 09, section 1: `tdiv`)."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b
