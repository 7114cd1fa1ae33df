"""Locks that the system gives back when their process ends: one signer for a folder, and one for a key."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.keys import PublicKey, public_key_text

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "signer.lock"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a signer's folder; the number of the process stands in the file.

    Raises:
        OperatorError: Another process has it.
    """
    with _locked(folder / LOCK_FILE, "ab", f"{folder} is in use by another signer: stop that one") as file:
        file.truncate(0)
        file.write(b"%d" % os.getpid())
        file.flush()
        yield


@contextmanager
def lock_key_file(path: Path) -> Iterator[None]:
    """Lock a file of keys, by whichever of its names.

    Raises:
        OperatorError: Another process has it, or there is none.
    """
    with _locked(path, "rb", f"another signer uses the keys of {path}: stop that one"):
        yield


@contextmanager
def _locked(path: Path, mode: str, refusal: str) -> Iterator[IO[bytes]]:
    if sys.platform == "win32":
        raise OperatorError("the signer runs on Linux and macOS")
    try:
        file: IO[bytes] = path.open(mode)
    except OSError as problem:
        raise OperatorError(f"{path} cannot be opened: {problem.strerror}") from problem
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            raise OperatorError(refusal) from problem
        yield file


@contextmanager
def lock_key(key: PublicKey) -> Iterator[None]:
    """Lock a key on this machine, whatever file it was read from; only Linux can.

    The lock is a name of an abstract Unix socket, which no file has and which nobody can leave behind.

    Raises:
        OperatorError: Another process has it.
    """
    if sys.platform != "linux":
        yield
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as plug:
        try:
            plug.bind("\0ledgerd-signer-" + sha256(key).hexdigest())
        except OSError as problem:
            raise OperatorError(
                f"another signer of this machine holds the key {public_key_text(key)}: stop that one"
            ) from problem
        yield
