"""A hardfork as a value: its number, or its version (spec 11, section 9.6)."""

from __future__ import annotations

import re

from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.protocol.parameters import MAINNET_HARDFORKS
from ledgerd.protocol.versions import version_number, version_text

NO_HARDFORK = 0

LAST = MAINNET_HARDFORKS[-1].number
LARGEST_PART = 255
MOST_DIGITS = 18

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)(?:\.([0-9]+))?", re.ASCII)


def _read(text: str) -> int:
    if not text:
        return NO_HARDFORK
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


def _show(number: int) -> str:
    return version_text(MAINNET_HARDFORKS[number].version) if number else ""


HARDFORK = OptionKind(
    "HARDFORK",
    f"a number up to {LAST}, or a version such as {version_text(MAINNET_HARDFORKS[-1].version)}; empty for none",
    str(LAST),
    _read,
    _show,
)
