"""Files of signing keys: a private key in WIF on each line, comments and empty lines left out."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledgerd.basics.durable import read_file

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey


LARGEST_FILE = 1 << 20
"""Bytes: thousands of keys with comments."""


class KeyFileFault(Exception):
    """A file that holds no keys; the message never repeats what it holds."""


class KeyFile(NamedTuple):
    """The content of a key file."""

    keys: tuple[PrivateKey, ...]
    is_open_to_others: bool


def read_key(text: str) -> PrivateKey:
    from ledgerd.protocol.crypto.keys import PrivateKey  # noqa: PLC0415 - keys are loaded when there is one to read
    from ledgerd.protocol.errors import RuleViolation  # noqa: PLC0415

    try:
        return PrivateKey.from_wif(text.strip('"'))
    except RuleViolation:
        raise KeyFileFault("is not a private key in WIF") from None


def read_key_file(path: Path) -> KeyFile:
    try:
        mode = path.stat().st_mode
        lines = read_file(path, LARGEST_FILE).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise KeyFileFault(f"{path} cannot be read: {reason}") from None
    keys = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                keys.append(read_key(text))
            except KeyFileFault as problem:
                raise KeyFileFault(f"{path}: line {number} {problem}") from None
    return KeyFile(tuple(keys), bool(mode & (stat.S_IRWXG | stat.S_IRWXO)))
