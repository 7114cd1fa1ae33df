"""The lines that were typed, kept for the next time: none that holds a secret."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import History

from ledgerd.protocol.secrets import without_keys

MOST_LINES = 1_000
LONGEST_LINE = 10_000
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
ENCRYPTED = "#"
"""A memo that begins so is to be encrypted, and must not stand in a file in plain text."""


def may_be_kept(line: str) -> bool:
    """Whether a line has nothing in it that looks like a private key, and no memo that is to be encrypted."""
    words = line.replace('"', " ").replace("'", " ").replace("=", " ").split()
    if any(word.startswith(ENCRYPTED) for word in words) or len(line) > LONGEST_LINE:
        return False
    return without_keys(line) == line


class LineHistory(History):
    """A file that only its owner can read, one line after the other, the latest last."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        return [line for line in reversed(lines[-MOST_LINES:]) if line]

    def store_string(self, string: str) -> None:
        if "\n" in string or not may_be_kept(string):
            return
        try:
            descriptor = os.open(self._path, FLAGS, 0o600)
        except OSError:
            return  # commands work without a history
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - by its descriptor
            file.write(f"{string}\n")
