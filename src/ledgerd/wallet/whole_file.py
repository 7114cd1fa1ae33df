"""Files that are written as a whole and for their owner alone: after a crash there is the old one or the new one."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from ledgerd.basics.durable import sync, sync_folder
from ledgerd.wallet.errors import WalletError

OWNER_ONLY = 0o600


def write_new(path: Path, raw: bytes) -> None:
    """Write a file that must not exist yet, also not as a link to another place."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY)
    except FileExistsError:
        raise WalletError(f"{path} exists: choose another file, or move it away") from None
    except OSError as problem:
        raise _refused(path, problem) from problem
    try:
        _fill(descriptor, raw)
        sync_folder(path.parent)
    except OSError as problem:
        with suppress(OSError):
            path.unlink()
        raise _refused(path, problem) from problem


def replace_whole(path: Path, raw: bytes) -> None:
    fresh = ""
    try:
        descriptor, fresh = tempfile.mkstemp(".new", f"{path.name}.", path.parent)
        _fill(descriptor, raw)
        Path(fresh).replace(path)
        sync_folder(path.parent)
    except OSError as problem:
        with suppress(OSError):
            Path(fresh).unlink()
        raise _refused(path, problem) from problem


def _fill(descriptor: int, raw: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(raw)
        sync(file)


def _refused(path: Path, problem: OSError) -> WalletError:
    reason = "the disk is full" if problem.errno in (errno.ENOSPC, errno.EDQUOT) else problem.strerror
    return WalletError(f"{path} cannot be written: {reason}")
