"""The formats of what is kept on a disk. Each has a number that grows, and what is written in a format says which.

A format after the first release says too which version of this program is the oldest that opens it: an older one, which
has to name it, cannot know. The JSON files have both as `format` or `version`, and `opened_by`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,32}", re.ASCII)


class Format(NamedTuple):
    """The format that this version of the program writes."""

    title: str
    number: int
    opened_by: str
    """The oldest version of the program that opens it."""

    @property
    def text(self) -> bytes:
        return f"{self.title} {self.number}".encode()

    def number_in(self, text: bytes) -> int | None:
        """The number in the text of this format or of another one of the same title."""
        title, _, number = text.decode("utf-8", "replace").rpartition(" ")
        is_number = number.isascii() and number.isdecimal() and len(number) < 10
        return int(number) if title == self.title and is_number else None

    def is_newer(self, text: bytes) -> bool:
        return (self.number_in(text) or 0) > self.number


class FileFormat(msgspec.Struct, frozen=True):
    """The number of the format in a JSON file; other fields, which a later version may have added, are ignored. A file
    without a number has the first format.
    """

    format: int = 1
    opened_by: str = ""

    def newer_than(self, known: int, what: str) -> str:
        """The error if it is newer than the known format, else an empty text."""
        return newer_format(what, self.format, known, self.opened_by) if self.format > known else ""


def newer_format(what: str, found: int, known: int, opened_by: object) -> str:
    """The error for a file of a newer version. The file may be damaged instead, so no text of it is shown unchanged."""
    is_named = isinstance(opened_by, str) and _VERSION.fullmatch(opened_by)
    version = f"version {opened_by} of ledgerd or a later one" if is_named else "a later version of ledgerd"
    return (
        f"{what} has format {found}, and this program knows {known} and what came before: it was left as it is. Start "
        f"{version}, or go back as docs/upgrading.md says"
    )
