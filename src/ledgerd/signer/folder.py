"""A signer's folder: the record of what it signed last, whether it was stopped cleanly, and the lock on both."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from ledgerd.basics.closing import Closing
from ledgerd.basics.durable import sync_folder, write_whole
from ledgerd.producer.signing.double_sign import FILE
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.record import SignerRecord

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "signer.lock"
NAME_DIGITS = 32
OWNER_ONLY, OTHERS_WRITE = 0o700, 0o022

MARK = "stopped_cleanly"


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
    """Lock the key, by a file in a folder of the user's own: nobody else can take the lock, and so keep a signer from
    starting.
    """
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


class CleanStop(msgspec.Struct, frozen=True):
    """Which file was the record when the signer stopped: a copy of it, as from a backup, is another file."""

    inode: int
    changed: int
    """Nanoseconds; no program can set that time of a file."""


class SignerFolder(Closing):
    """The folder of a signer, while this process holds its lock."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & OTHERS_WRITE:
            raise OperatorError(f"others than its owner may write to {folder}: `chmod 700 {folder}`")
        self._mark, self._path = folder / MARK, folder / FILE
        with ExitStack() as stack:
            stack.enter_context(lock_folder(folder))
            self.has_stopped_cleanly = self._consume_mark()
            self.record = SignerRecord(folder, has_stopped_cleanly=self.has_stopped_cleanly)
            self._close: Callable[[], None] = stack.pop_all().close

    def _consume_mark(self) -> bool:
        """Whether the last stop was clean; from now on, until the next one, it was not."""
        try:
            mark = msgspec.json.decode(self._mark.read_bytes(), type=CleanStop)
        except FileNotFoundError:
            return False
        except (OSError, ValueError, msgspec.MsgspecError):
            mark = None
        try:
            self._mark.unlink()
            sync_folder(self._mark.parent)
        except OSError as problem:
            raise OperatorError(f"{self._mark} cannot be removed ({problem.strerror}): see to the disk") from problem
        return mark is not None and mark == self._now()

    def _now(self) -> CleanStop | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return CleanStop(found.st_ino, found.st_ctime_ns)

    def mark_clean(self) -> None:
        """Mark that the signer stops and signs nothing more; without a record there is nothing to mark."""
        self.record.close(is_last=True)
        mark = None if self.record.block is None else self._now()
        if mark is not None:
            write_whole(self._mark, msgspec.json.encode(mark))

    def close(self) -> None:
        self.record.close(is_last=False)
        self._close()
