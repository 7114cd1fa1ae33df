"""`ledgerd key`: makes signing keys in a file, prints their public keys, and has a node read the file again."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ledgerd.basics.closing import on_error
from ledgerd.basics.durable import read_file, sync
from ledgerd.producer.settings import LOADED_KEYS
from ledgerd.producer.signing.key_files import LARGEST_FILE
from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey, public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.lock import holder_of

LOADING_SECONDS = 15.0
"""Seconds that a node may take to read its keys again."""
PAUSE = 0.05


def run(chosen: argparse.Namespace) -> int:
    file: Path = chosen.file
    if chosen.remove:
        _remove(file, chosen.remove)
    made = _make(file) if not file.exists() else _add(file) if chosen.add else None
    known = [public_key_text(key.public) for key in _keys_in(file)]
    if chosen.data_dir is not None:
        _load_into_node(chosen.data_dir, known, chosen.remove)
    shown = known if made is None else [public_key_text(made.public)]
    sys.stdout.write("".join(f"{each}\n" for each in shown))
    return 0


def _make(file: Path) -> PrivateKey:
    key = PrivateKey(secrets.token_bytes(32))
    try:
        _write_new(file, [key.wif])
    except OSError as problem:
        raise OperatorError(f"{file} cannot be written: {problem.strerror}") from problem
    return key


def _write_new(file: Path, lines: list[str]) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with on_error(file.unlink), open(descriptor, "w", encoding="ascii") as opened:  # noqa: PTH123 - by its descriptor, for its mode
        opened.write("".join(f"{line}\n" for line in lines))
        sync(opened)


def _add(file: Path) -> PrivateKey:
    key, lines = PrivateKey(secrets.token_bytes(32)), [*_lines_of(file)]
    [*_keys_in(file)]  # a file of another kind is left alone
    _replace(file, [*lines, key.wif])
    return key


def _remove(file: Path, public: str) -> None:
    lines = [*_lines_of(file)]
    kept = [line for line, key in _read(file, lines) if key is None or public_key_text(key.public) != public]
    if len(kept) == len(lines):
        raise OperatorError(f"{file} has no private key of {public}")
    _replace(file, kept)


def _lines_of(file: Path) -> list[str]:
    try:
        return read_file(file, LARGEST_FILE).decode("ascii").splitlines()
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from problem
    except ValueError:
        raise OperatorError(f"{file} exists, and holds no private key in WIF: choose another file") from None


def _read(file: Path, lines: list[str]) -> Iterator[tuple[str, PrivateKey | None]]:
    """Each line of a file with its key; comments and empty lines have none."""
    for line in lines:
        text = line.partition("#")[0].strip()
        try:
            yield line, PrivateKey.from_wif(text) if text else None
        except (InvalidKey, ValueError):
            raise OperatorError(f"{file} exists, and holds no private key in WIF: choose another file") from None


def _keys_in(file: Path) -> list[PrivateKey]:
    keys = [key for _, key in _read(file, _lines_of(file)) if key is not None]
    if not keys:
        raise OperatorError(f"{file} exists, and holds no private key in WIF: choose another file")
    return keys


def _replace(file: Path, lines: list[str]) -> None:
    """Replace the file as a whole, so that a node that reads it meanwhile sees the old or the new one."""
    fresh = file.with_name(f"{file.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        _write_new(fresh, lines)
        fresh.replace(file)
    except OSError as problem:
        raise OperatorError(f"{file} cannot be written: {problem.strerror}") from problem


def _reads_keys_again(process: int) -> bool:
    """Whether a process handles the signal, which ends any other: commands hold the lock of a directory too."""
    status = Path(f"/proc/{process}/status")
    try:
        caught = next(line for line in status.read_text("ascii").splitlines() if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return sys.platform != "linux"
    return bool(int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1)


def _load_into_node(folder: Path, known: list[str], removed: str | None) -> None:
    """Have a node read its key files, and wait until it says that it has loaded these, and no more the removed one."""
    loaded, process = folder / LOADED_KEYS, holder_of(folder)
    if not process:
        raise OperatorError(f"no node runs with the data directory {folder}")
    if sys.platform == "win32" or not loaded.exists() or not _reads_keys_again(process):
        raise OperatorError("this node reads key files only when it starts, or has none: see private-key-file")
    os.kill(process, signal.SIGUSR1)
    deadline = time.monotonic() + LOADING_SECONDS
    while True:
        has = set(loaded.read_text(encoding="ascii").split())
        if has.issuperset(known) and removed not in has:
            return
        if time.monotonic() > deadline:
            raise OperatorError("the node has not loaded these keys: its log says why, or it uses other key files")
        time.sleep(PAUSE)
