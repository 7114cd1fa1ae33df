"""The reference's integers, where their widths decide the result (spec 02, section 1.2)."""

from __future__ import annotations

from ledgerd.protocol.errors import RuleViolation, require

MAX_UINT128 = 2**128 - 1
MAX_UINT64 = 2**64 - 1
MAX_UINT32 = 2**32 - 1


class DivideByZero(RuleViolation):
    """A division whose divisor came out as zero."""

    code, name, what = 21, "divide_by_zero_exception", "Integer Divide By Zero"


def truncated(dividend: int, divisor: int) -> int:
    """Division toward zero, as C has it."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def uint32(value: int) -> int:
    return value & MAX_UINT32


def uint64(value: int) -> int:
    return value & MAX_UINT64


def uint128(value: int) -> int:
    """The low 128 bits; a negative number becomes a huge one."""
    return value & MAX_UINT128


def int16(value: int) -> int:
    return (value + 0x8000 & 0xFFFF) - 0x8000


def int64(value: int) -> int:
    return (value + 2**63 & MAX_UINT64) - 2**63


def fits_uint64(value: int) -> int:
    """A 128-bit result that must fit 64 bits (`to_uint64`)."""
    require(value <= MAX_UINT64, "hi == 0: ")
    return value
