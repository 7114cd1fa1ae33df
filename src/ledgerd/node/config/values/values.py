"""The plain kinds of values: yes or no, numbers, sizes, texts and paths (spec 06, sections 4.2 and 4.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ledgerd.node.config.values.kind import Argument, OptionKind, WrongValue
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS
from ledgerd.protocol.types.versions import version_number, version_text

_TRUE = frozenset({"", "true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_NUMBER = re.compile(r"([+-]?)([0-9]+)")
_SIZE = re.compile(r"([0-9]+)(?:([KMGTPEZY])(|B|iB))?", re.IGNORECASE)
_POWERS = "KMGTPEZY"
_BINARY, _DECIMAL = 1024, 1000
_SIZE_BITS = 64
_MOST_DIGITS = 4_000
"""Python reads no longer numbers; no honest text is so long."""


def _read_bool(text: str) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise WrongValue("is neither true nor false")


def _show_bool(value: bool) -> str:
    return "true" if value else "false"


BOOL = OptionKind(
    "BOOL",
    "true, yes, on or 1; or false, no, off or 0",
    "true",
    _read_bool,
    _show_bool,
    argument=Argument.OPTIONAL,
    bare="true",
)
SWITCH = OptionKind("BOOL", BOOL.takes, "true", _read_bool, _show_bool, argument=Argument.NONE, bare="true")
"""A yes or no that on the command line is said by the option alone."""


def number_of(text: str, bits: int) -> int:
    """A number as the reference reads it: a minus wraps round, so that -1 is the largest there is."""
    largest = (1 << bits) - 1
    value = _signed(text, largest, f"is above the largest, {largest}")
    return value % (1 << bits)


def _signed(text: str, largest: int, fault: str) -> int:
    parts = _NUMBER.fullmatch(text)
    if parts is None:
        raise WrongValue("is not a whole number in decimal digits")
    sign, digits = parts.groups()
    if len(digits) > _MOST_DIGITS or int(digits) > largest:
        raise WrongValue(fault)
    return -int(digits) if sign == "-" else int(digits)


def _unsigned(bits: int, *, least: int = 0, most: int | None = None, raised_to: int = 0) -> OptionKind[int]:
    largest = (1 << bits) - 1 if most is None else most

    def read(text: str) -> int:
        value = number_of(text, bits)
        if not least <= value <= largest:
            raise WrongValue(f"is not between {least} and {largest}")
        return max(value, raised_to)

    takes = f"a whole number from {least} to {largest}"
    if raised_to:
        takes += f", where what is below {raised_to} counts as {raised_to}"
    return OptionKind("NUMBER", takes, str(max(least, raised_to, 1)), read)


def uint32(*, least: int = 0, most: int | None = None, raised_to: int = 0) -> OptionKind[int]:
    """A number of 32 bits within bounds; a smaller one than `raised_to` is taken for that."""
    return _unsigned(32, least=least, most=most, raised_to=raised_to)


UINT32 = uint32()
UINT64 = _unsigned(64)


def _read_int64(text: str) -> int:
    largest = (1 << 63) - 1
    return _signed(text, largest, f"is not between -{largest} and {largest}")


INT64 = OptionKind("NUMBER", "a whole number, which may be negative", "1", _read_int64)


def _read_size(text: str) -> int:
    parts = _SIZE.fullmatch(text)
    if parts is None or len(parts[1]) > _MOST_DIGITS:
        raise WrongValue("is not a size")
    digits, letter, unit = parts.groups()
    value = int(digits)
    if letter is not None:
        base = _DECIMAL if unit.upper() == "B" else _BINARY
        value *= base ** (_POWERS.index(letter.upper()) + 1)
    return value % (1 << _SIZE_BITS)


def _show_size(value: int) -> str:
    for letter in reversed("KMGTPE"):
        unit = _BINARY ** (_POWERS.index(letter) + 1)
        if value and value % unit == 0:
            return f"{value // unit}{letter}"
    return str(value)


SIZE = OptionKind(
    "SIZE",
    "bytes: digits, then nothing or one of K M G T P E Z Y for powers of 1024 (KB, MB and so on: of 1000)",
    "4G",
    _read_size,
    _show_size,
)

TEXT: OptionKind[str] = OptionKind("TEXT", "any text", "text", str)
PATH = OptionKind("PATH", "a path", "state", Path)


def choice_of(*words: str, or_else: str = "") -> OptionKind[str]:
    """One of a few words; or else any other text, if there is a word for what that would be."""

    def read(text: str) -> str:
        if not text or (text not in words and not or_else):
            raise WrongValue("is none of them" if text else "is empty")
        return text

    all_words = (*words, or_else) if or_else else words
    return OptionKind("|".join(all_words), f"one of {', '.join(all_words)}", words[0], read)


def nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - loaded when there is something to correct

    return get_close_matches(word, known, n=1, cutoff=0)[0]


def name_among(known: Callable[[], tuple[str, ...]], what: str) -> OptionKind[str]:
    def read(text: str) -> str:
        if text not in known():
            raise WrongValue(f"names no {what}; the nearest one is {nearest(text, known())}")
        return text

    return OptionKind("NAME", f"the name of a {what}", known()[0], read)


LAST = MAINNET_HARDFORKS[-1].number
LARGEST_PART = 255
"""The highest number in a version."""
MOST_DIGITS = 18
"""Digits of a number that are read."""

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)(?:\.([0-9]+))?", re.ASCII)


def _read_hardfork(text: str) -> int:
    if not text:
        return 0
    if text.isascii() and text.isdecimal():
        if len(text) > MOST_DIGITS or int(text) > LAST:
            raise WrongValue(f"hardfork number {text} is beyond this binary (max {LAST})")
        return int(text)
    parts = _VERSION.fullmatch(text)
    if parts is None:
        raise WrongValue("is neither a hardfork number nor a version (expected MAJOR.MINOR or MAJOR.MINOR.RELEASE)")
    return _of_version(text, parts[1], parts[2])


def _of_version(text: str, major: str, minor: str) -> int:
    """The release counts for nothing."""
    if max(len(major), len(minor)) > MOST_DIGITS or max(int(major), int(minor)) > LARGEST_PART:
        raise WrongValue(f"version '{text}' is out of range")
    version = version_number(int(major), int(minor))
    for hardfork in MAINNET_HARDFORKS:
        if hardfork.version == version:
            return hardfork.number
    raise WrongValue(f"this binary knows no hardfork with version {text}")


HARDFORK = OptionKind(
    "HARDFORK",
    f"a number up to {LAST}, or a version such as {version_text(MAINNET_HARDFORKS[-1].version)}; empty for none",
    str(LAST),
    _read_hardfork,
    lambda number: version_text(MAINNET_HARDFORKS[number].version) if number else "",
)
