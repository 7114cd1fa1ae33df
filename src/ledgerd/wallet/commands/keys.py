"""`ledgerd wallet create`, `unlock`, `key` and what else is about the file and its keys. Each returns what to print."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.protocol.crypto.keys import InvalidKey, PublicKey, public_key_from_text
from ledgerd.sdk.keys.memos import is_encrypted
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.keys.entry import SecretSource, readable
from ledgerd.wallet.keys.reference_file import encrypted_keys_of
from ledgerd.wallet.keys.session import session_of, unlock
from ledgerd.wallet.keys.wallet_file import WalletFile, copy_wallet

FOLDER = "ledgerd"
FILE = "wallet.json"


def usual_path() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / FOLDER / FILE


def create(path: Path, password: SecretSource, *, unlocks: bool = False) -> CommandResult:
    if path.exists():
        raise WalletError(f"{path} exists: choose another file with --wallet")
    chosen = password.read_new()
    WalletFile.create(path, chosen)
    if unlocks:
        with readable(chosen) as descriptor:
            unlock(path, descriptor)
    return {"wallet": str(path), "unlocked": unlocks}


def open_session(path: Path, password: SecretSource, minutes: float) -> CommandResult:
    with password.opened(f"Password of {path}: ") as descriptor:
        status = unlock(path, descriptor, idle_seconds=60 * minutes).status()
    return {"wallet": status.path, "locks_in_seconds": round(status.seconds_left)}


def lock(path: Path) -> CommandResult:
    session_of(path).lock()
    return {"wallet": str(path)}


def change_password(path: Path, password: SecretSource, fresh: SecretSource) -> CommandResult:
    with password.opened(f"Password of {path}: ") as descriptor:
        session = unlock(path, descriptor)
    with readable(fresh.read_new()) as descriptor:
        session.change_password(descriptor)
    return {"wallet": str(path)}


def backup(path: Path, destination: Path) -> CommandResult:
    copy_wallet(path, destination)
    return {"wallet": str(path), "backup": str(destination)}


def restore(path: Path, source: Path) -> CommandResult:
    copy_wallet(source, path)
    return {"wallet": str(path), "backup": str(source)}


def list_keys(path: Path) -> CommandResult:
    held = session_of(path).keys()
    return {"keys": [{"key": each.key, "label": each.label} for each in held.keys], "watched": list(held.watched)}


def new_key(path: Path, label: str) -> CommandResult:
    return {"key": session_of(path).generate(label), "label": label}


def import_key(path: Path, source: SecretSource, label: str) -> CommandResult:
    session = session_of(path)
    session.status()
    with source.opened("Private key (not shown): ") as descriptor:
        return {"key": session.import_key(descriptor, label), "label": label}


def import_reference(path: Path, source: SecretSource, file: Path, label: str) -> CommandResult:
    """Take all keys of a wallet file of the reference, which only the process that holds the keys decrypts."""
    session, encrypted = session_of(path), encrypted_keys_of(file)
    session.status()
    with source.opened(f"Password of {file} (not shown): ") as descriptor:
        return {"file": str(file), "keys": list(session.import_reference(encrypted, descriptor, label or file.name))}


def derive_keys(path: Path, source: SecretSource, account: str, roles: Sequence[str]) -> CommandResult:
    session = session_of(path)
    session.status()
    with source.opened(f"Password of the account {account} (not shown): ") as descriptor:
        return {"account": account, "keys": list(session.derive_keys(account, roles, descriptor))}


def remove_key(path: Path, key: str) -> CommandResult:
    session_of(path).remove_key(parsed_key(key))
    return {"key": key}


def export_key(path: Path, key: str, destination: Path) -> CommandResult:
    public, session = parsed_key(key), session_of(path)
    session.status()
    try:
        descriptor = os.open(destination, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise WalletError(f"{destination} cannot be made: {problem.strerror}") from problem
    try:
        session.export_key(public, descriptor)
    except BaseException:
        destination.unlink()
        raise
    finally:
        os.close(descriptor)
    return {"key": key, "file": str(destination)}


def watch(path: Path, name: str, *, is_watched: bool) -> CommandResult:
    session_of(path).watch(name, is_watched=is_watched)
    return {"account": name, "watched": is_watched}


def parsed_key(text: str) -> PublicKey:
    """A public key as a person has typed it; the error does not repeat the text, which may be a private one."""
    try:
        return public_key_from_text(text)
    except (InvalidKey, DecodeError, JsonError):
        raise WalletError("this is no public key: those begin with VIZ") from None


def read_memo(wallet: Path, memo: str) -> CommandResult:
    if not is_encrypted(memo):
        raise WalletError("this is no encrypted memo: those begin with # and a long word")
    return {"text": session_of(wallet).decrypt_memo(memo)}
