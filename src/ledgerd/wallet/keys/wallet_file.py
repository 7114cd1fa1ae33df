"""The wallet's file: one password, whole changes, and several wallets on it at once: a change reads it again."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.wallet.errors import ChangedPassword, ForeignWallet, WalletError
from ledgerd.wallet.keys.contents import Contents
from ledgerd.wallet.keys.sealing import LARGEST_FILE, Cost, PasswordKey, Sealed, read_sealed
from ledgerd.wallet.whole_file import OWNER_ONLY, replace_whole, write_new

LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class WalletFile:
    """A wallet's file that was opened with its password."""

    def __init__(self, path: Path, password_key: PasswordKey) -> None:
        self.path = path
        self._password_key = password_key

    @classmethod
    def create(cls, path: Path, password: bytes, cost: Cost = Cost()) -> WalletFile:  # noqa: B008 - immutable
        """A new wallet without keys; a file that exists is never replaced."""
        if not password:
            raise WalletError("an empty password protects nothing: choose another")
        made = cls(path, PasswordKey.new(password, cost))
        with _locked(path):
            write_new(path, made._password_key.seal(Contents().pack()))
        return made

    @classmethod
    def open(cls, path: Path, password: bytes) -> WalletFile:
        sealed = read_sealed(read_file(path))
        opened = cls(path, PasswordKey.of(password, sealed))
        opened._contents_of(sealed)
        return opened

    def read(self) -> Contents:
        return self._contents_of(read_sealed(read_file(self.path)))

    def change(self, edit: Callable[[Contents], Contents]) -> Contents:
        with _locked(self.path):
            before = self.read()
            after = edit(before)
            if after != before:
                replace_whole(self.path, self._password_key.seal(after.pack()))
        return after

    def change_password(self, password: bytes) -> None:
        """Encrypt the file with another password; other wallets that have it open must be unlocked again."""
        if not password:
            raise WalletError("an empty password protects nothing: choose another")
        fresh = PasswordKey.new(password, self._password_key.cost)
        with _locked(self.path):
            replace_whole(self.path, fresh.seal(self.read().pack()))
        self._password_key = fresh

    def _contents_of(self, sealed: Sealed) -> Contents:
        if not self._password_key.is_of(sealed):
            raise ChangedPassword("the password of the wallet was changed elsewhere: unlock it again")
        return Contents.unpack(self._password_key.unseal(sealed))


def copy_wallet(source: Path, destination: Path) -> None:
    """Copy a wallet, encrypted as it is: a backup, or back from one. A file that exists is never replaced."""
    raw = read_file(source)
    read_sealed(raw)
    _make_folder(destination.parent)
    write_new(destination, raw)


def read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ForeignWallet(f"{path} is no file")
            return file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise WalletError(f"there is no wallet {path}: make one with `ledgerd wallet create`") from None
    except OSError as problem:
        raise WalletError(f"{path} cannot be read: {problem.strerror}") from problem


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise WalletError(f"{folder} cannot be made: {problem.strerror}") from problem


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing the file meanwhile. The lock is on a file beside it, since it is replaced."""
    _make_folder(path.parent)
    try:
        lock = os.open(path.with_name(f"{path.name}.lock"), LOCK_FLAGS, OWNER_ONLY)
    except OSError as problem:
        raise WalletError(f"{path.parent} cannot be written: {problem.strerror}") from problem
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
