"""The wallet's file: one password, whole changes, and several wallets on it at once: a change reads it again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ledgerd.basics.durable import open_file
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.wallet.errors import ChangedPassword, DamagedWallet, WalletError
from ledgerd.wallet.keys.sealing import LARGEST_FILE, RESTORE, Cost, PasswordKey, Sealed, keep_from_swap, read_sealed
from ledgerd.wallet.whole_file import OWNER_ONLY, replace_whole, write_new

MOST_KEYS = 10_000
MOST_WATCHED = 10_000
LONGEST_LABEL = 200

LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class KeyEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A private key, and what its owner calls it. Its printed form shows no secret, and it is in no page of swap."""

    secret: bytes
    label: str = ""

    def __post_init__(self) -> None:
        keep_from_swap(self.secret)

    def __repr__(self) -> str:
        return f"KeyEntry({self.label!r})"

    @property
    def key(self) -> PrivateKey:
        return PrivateKey(self.secret)


class Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a wallet keeps: keys with their labels, and the watched accounts."""

    keys: tuple[KeyEntry, ...] = ()
    watched: tuple[str, ...] = ()

    def pack(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def unpack(cls, raw: bytes) -> Contents:
        try:
            found = msgspec.json.decode(raw, type=cls)
            for entry in found.keys:
                _ = entry.key
        except Exception:  # noqa: BLE001 - no error may show a secret
            raise DamagedWallet(f"the wallet's file holds something else than keys: {RESTORE}") from None
        return found

    def by_public(self) -> dict[PublicKey, KeyEntry]:
        return {entry.key.public: entry for entry in self.keys}

    def with_key(self, key: PrivateKey, label: str) -> Contents:
        """The contents with one more key; a key that is there already only gets the label."""
        others = tuple(entry for entry in self.keys if entry.secret != key.secret)
        if len(others) >= MOST_KEYS:
            raise WalletError(f"a wallet has at most {MOST_KEYS:,} keys: remove one first")
        if len(label) > LONGEST_LABEL:
            raise WalletError(f"a label has at most {LONGEST_LABEL} characters")
        return msgspec.structs.replace(self, keys=(*others, KeyEntry(key.secret, label)))

    def without_key(self, public: PublicKey) -> Contents:
        kept = tuple(entry for entry in self.keys if entry.key.public != public)
        if len(kept) == len(self.keys):
            raise WalletError("the wallet has no such key")
        return msgspec.structs.replace(self, keys=kept)

    def with_watched(self, name: str) -> Contents:
        if len(self.watched) >= MOST_WATCHED and name not in self.watched:
            raise WalletError(f"a wallet watches at most {MOST_WATCHED:,} accounts: remove one first")
        return msgspec.structs.replace(self, watched=tuple(sorted({*self.watched, name})))

    def without_watched(self, name: str) -> Contents:
        if name not in self.watched:
            raise WalletError(f"the wallet does not watch {name}")
        return msgspec.structs.replace(self, watched=tuple(each for each in self.watched if each != name))


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
        with open_file(path) as file:
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
