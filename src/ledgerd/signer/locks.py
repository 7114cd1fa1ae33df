"""Locks that the system gives back when their process ends: one signer for a folder, and one for a key."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.errors import OperatorError

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "signer.lock"
NAME_DIGITS = 32
OWNER_ONLY, OTHERS_WRITE = 0o700, 0o022


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """The number of the process stands in the file."""
    with _locked(folder / LOCK_FILE, "ab", f"{folder} is in use by another signer: stop that one") as file:
        file.truncate(0)
        file.write(b"%d" % os.getpid())
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)  # that number is soon another process's


@contextmanager
def lock_key_file(path: Path) -> Iterator[None]:
    """Lock a file of keys, by whichever of its names."""
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
    """On a file in a folder of the user's own: nobody else can take it, and so keep a signer from starting."""
    refusal = f"another signer of this user holds the key {public_key_text(key)}: stop that one"
    with _locked(_folder_of_locks() / f"{sha256(key).hexdigest()[:NAME_DIGITS]}.lock", "ab", refusal):
        yield


def _folder_of_locks() -> Path:
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "ledgerd" / "signer-locks"
    try:
        folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise OperatorError(
            f"the lock on the key has no place: {folder} cannot be made ({reason}): set XDG_STATE_HOME to a folder of "
            "the signer's user"
        ) from problem
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & OTHERS_WRITE:
        raise OperatorError(f"{folder} belongs to another user, or others may write to it: see who has made it")
    return folder
