"""Base58 in Bitcoin's alphabet, as liberal in what it reads as the reference is (spec 01, section 5.2)."""

from __future__ import annotations

from ledgerd.codec.errors import PARSE_ERROR, DecodeError, EncodeError
from ledgerd.codec.json.errors import JsonError

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

LONGEST_TEXT = 2_097_152
"""The size of the largest block. The reference reads any length; no longer text can be part of the ledger."""

LONGEST_DATA = 4_096
"""The most bytes that are written: only keys and memos are, and a memo has less than 2,048 bytes."""

_WHITESPACE = " \t\n\v\f\r"
_SYMBOLS = ALPHABET.encode()
_NO_DIGIT = 0xFF

# Digits are taken from a long number ten at a time, and from such a short one, which is cheap to divide, by twos. From
# a number of at most 52 digits, which keys with their checksum are, they are taken four at a time: a divisor below 2^30
# is the fastest.
_PAIR = 58**2
_QUAD = 58**4
_LONGEST_KEY = 37
_LIMB = 58**10
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_DIGITS = bytes(_SYMBOLS.find(byte) & 0xFF for byte in range(256))

_SIDE_BY_SIDE = 64
"""The most digits whose neighbours are joined all at once: the text of a key has about fifty."""
_LANES = [8 << step for step in range(6)]
_JOINS = tuple(
    (
        lane,
        sum((1 << lane) - 1 << place for place in range(0, 8 * _SIDE_BY_SIDE, 2 * lane)),
        (1 << lane) - 58 ** (lane // 8),
    )
    for lane in _LANES
)
"""For each step: the bits of a digit, those of every second digit, and the excess of a high digit."""


def encode(data: bytes) -> str:
    if len(data) > LONGEST_DATA:
        raise EncodeError(f"{len(data)} bytes are too many for base58: at most {LONGEST_DATA}")
    number = int.from_bytes(data, "big")
    zeros = len(data) - len(data.lstrip(b"\0"))
    if len(data) <= _LONGEST_KEY:
        return ALPHABET[0] * zeros + _short_text(number).lstrip(ALPHABET[0])
    pairs: list[str] = []
    while number:
        number, limb = divmod(number, _LIMB)
        limb, first = divmod(limb, _PAIR)
        limb, second = divmod(limb, _PAIR)
        limb, third = divmod(limb, _PAIR)
        fifth, fourth = divmod(limb, _PAIR)
        pairs += (_PAIRS[first], _PAIRS[second], _PAIRS[third], _PAIRS[fourth], _PAIRS[fifth])
    pairs.reverse()
    return ALPHABET[0] * zeros + "".join(pairs).lstrip(ALPHABET[0])


def _short_text(number: int) -> str:
    """Fifty-two digits. Written out, it takes half the time of a loop, and texts of keys are what answers wait for."""
    pair, pairs = _PAIR, _PAIRS
    number, a = divmod(number, _QUAD)
    number, b = divmod(number, _QUAD)
    number, c = divmod(number, _QUAD)
    number, d = divmod(number, _QUAD)
    number, e = divmod(number, _QUAD)
    number, f = divmod(number, _QUAD)
    number, g = divmod(number, _QUAD)
    number, h = divmod(number, _QUAD)
    number, i = divmod(number, _QUAD)
    number, j = divmod(number, _QUAD)
    number, k = divmod(number, _QUAD)
    top, m = divmod(number, _QUAD)
    return (
        f"{pairs[top // pair]}{pairs[top % pair]}{pairs[m // pair]}{pairs[m % pair]}{pairs[k // pair]}{pairs[k % pair]}"
        f"{pairs[j // pair]}{pairs[j % pair]}{pairs[i // pair]}{pairs[i % pair]}{pairs[h // pair]}{pairs[h % pair]}"
        f"{pairs[g // pair]}{pairs[g % pair]}{pairs[f // pair]}{pairs[f % pair]}{pairs[e // pair]}{pairs[e % pair]}"
        f"{pairs[d // pair]}{pairs[d % pair]}{pairs[c // pair]}{pairs[c % pair]}{pairs[b // pair]}{pairs[b % pair]}"
        f"{pairs[a // pair]}{pairs[a % pair]}"
    )


def decode(text: str) -> bytes:
    """The bytes of a text: cut at the first NUL, whitespace around it skipped (spec 02, section 4.15)."""
    digits = text.encode("ascii", "replace").translate(_DIGITS)
    if len(digits) <= _SIDE_BY_SIDE and digits.find(_NO_DIGIT) < 0:  # texts of keys, which an import has millions of
        number = _short_number(digits)
        data = number.to_bytes((number.bit_length() + 7) // 8, "big")
        return bytes(len(digits) - len(digits.lstrip(b"\0"))) + data if digits.startswith(b"\0") else data
    body = text.partition("\0")[0].strip(_WHITESPACE)
    if len(body) > LONGEST_TEXT:
        raise DecodeError(f"{len(body)} characters are too many for base58: at most {LONGEST_TEXT}", PARSE_ERROR)
    digits = body.encode("ascii", "replace").translate(_DIGITS)
    if _NO_DIGIT in digits:
        raise JsonError(PARSE_ERROR, "Unable to decode base58 std::string ${base58_str}", {"base58_str": text})
    zeros = len(digits) - len(digits.lstrip(b"\0"))
    number = _short_number(digits) if len(digits) <= _SIDE_BY_SIDE else _number(list(digits))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _short_number(digits: bytes) -> int:
    """The same as `_number`, with all digits side by side in one long integer, in bytes: of two neighbours, the high
    one counts 256 there, and must count 58, and so on with pairs of them. It takes a sixth of the time of a list.
    """
    number = int.from_bytes(digits, "big")
    for width, high_digits, excess in _JOINS:
        number -= ((number >> width) & high_digits) * excess
    return number


def _number(digits: list[int]) -> int:
    """Neighbours are joined into digits of the squared base: a stranger's long text costs few multiplications."""
    base = 58
    while len(digits) > 1:
        if len(digits) % 2:
            digits.insert(0, 0)
        digits = [high * base + low for high, low in zip(digits[::2], digits[1::2], strict=True)]
        base *= base
    return digits[0] if digits else 0
