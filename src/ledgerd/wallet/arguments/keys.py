"""The commands about the wallet's file and its keys."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from ledgerd.sdk.keys.derivation import ROLES
from ledgerd.wallet.arguments.common import Command, Parts, add_command, in_words, path_of, secret_of
from ledgerd.wallet.commands import keys
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.keys.messages import IDLE_SECONDS
from ledgerd.wallet.node.checks import forget


def add_file_commands(parts: Parts) -> None:

    def unlock(chosen: argparse.Namespace) -> CommandResult:
        return keys.open_session(path_of(chosen), secret_of(chosen), chosen.minutes)

    def password(chosen: argparse.Namespace) -> CommandResult:
        return keys.change_password(path_of(chosen), secret_of(chosen), secret_of(chosen, "new-password"))

    def forget_chain(chosen: argparse.Namespace) -> CommandResult:
        forget(path_of(chosen))
        return {"wallet": str(path_of(chosen))}

    _add_create(parts)
    unlocked = in_words("Unlocked {wallet}. It locks itself after {locks_in_seconds} seconds without use.")
    unlocking = add_command(parts, "unlock", unlock, unlocked, "unlock the wallet", ["password"])
    unlocking.add_argument(
        "--minutes",
        type=float,
        default=IDLE_SECONDS / 60,
        help=f"lock after so long without use; {IDLE_SECONDS / 60:g} if absent",
    )
    locked = in_words("Locked {wallet}.")
    add_command(parts, "lock", lambda chosen: keys.lock(path_of(chosen)), locked, "lock the wallet")
    changed = in_words("The password of {wallet} was changed. Backups still have the old one.")
    add_command(parts, "password", password, changed, "change the password", ["password", "new-password"])
    copied = in_words("{wallet} was copied to {backup}, encrypted.")
    saving = add_command(
        parts,
        "backup",
        lambda chosen: keys.backup(path_of(chosen), chosen.file),
        copied,
        "copy the wallet, encrypted as it is",
    )
    restored = in_words("{backup} is the wallet {wallet} now.")
    restoring = add_command(
        parts,
        "restore",
        lambda chosen: keys.restore(path_of(chosen), chosen.file),
        restored,
        "make a backup the wallet again",
    )
    for each in (saving, restoring):
        each.add_argument("file", type=Path, metavar="FILE", help="the backup")
    for name, layout, help_text in (
        ("watch", "Watching {account}.", "list an account without having its keys"),
        ("unwatch", "No longer watching {account}.", "do not list a watched account any more"),
    ):
        watching = add_command(parts, name, _watching(is_watched=name == "watch"), in_words(layout), help_text)
        watching.add_argument("name", metavar="ACCOUNT", help="its name")
    forgotten = in_words("The next node decides which chain {wallet} is used with.")
    add_command(
        parts, "forget-chain", forget_chain, forgotten, "forget which chain the wallet was used with, and its head"
    )


def _watching(*, is_watched: bool) -> Command:
    return lambda chosen: keys.watch(path_of(chosen), chosen.name, is_watched=is_watched)


def _add_create(parts: Parts) -> None:
    def create(chosen: argparse.Namespace) -> CommandResult:
        return keys.create(path_of(chosen), secret_of(chosen), unlocks=chosen.unlock)

    def made(result: CommandResult) -> str:
        state = "It is unlocked" if result["unlocked"] else "Unlock it with: ledgerd wallet unlock"
        return f"Made {result['wallet']}. {state}."

    making = add_command(parts, "create", create, made, "make a wallet", ["password"])
    making.add_argument("--unlock", action="store_true", help="unlock it at once, as `unlock` does")


def add_key_commands(parts: Parts) -> None:
    def derive(chosen: argparse.Namespace) -> CommandResult:
        return keys.derive_keys(path_of(chosen), secret_of(chosen, "secret"), chosen.account, chosen.role or ROLES)

    def import_key(chosen: argparse.Namespace) -> CommandResult:
        secret = secret_of(chosen, "secret")
        if chosen.reference is not None:
            return keys.import_reference(path_of(chosen), secret, chosen.reference, chosen.label)
        return keys.import_key(path_of(chosen), secret, chosen.label)

    def text_of(result: CommandResult) -> str:
        return show_key(result) if "key" in result else _lines(result) or f"{result['file']} has no keys."

    show_key = in_words("{key}")
    add_command(
        parts, "list", lambda chosen: keys.list_keys(path_of(chosen)), _lines, "list public keys and watched accounts"
    )
    making = add_command(
        parts, "new", lambda chosen: keys.new_key(path_of(chosen), chosen.label), show_key, "make a key"
    )
    importing = add_command(parts, "import", import_key, text_of, "take a private key in WIF", ["secret"])
    importing.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        help="take all keys of this wallet file of the reference instead; the secret is its password",
    )
    for each in (making, importing):
        each.add_argument("--label", default="", help="what to call it")
    deriving = add_command(parts, "derive", derive, _lines, "make the keys of an account from its password", ["secret"])
    deriving.add_argument("account", metavar="ACCOUNT", help="its name")
    deriving.add_argument("--role", action="append", choices=ROLES, help="only the key of this role; may be repeated")
    exporting = add_command(
        parts,
        "export",
        lambda chosen: keys.export_key(path_of(chosen), chosen.key, chosen.file),
        in_words("{key} was written to {file}."),
        "write a private key to a new file of yours alone, for a validator",
    )
    removing = add_command(
        parts,
        "remove",
        lambda chosen: keys.remove_key(path_of(chosen), chosen.key),
        in_words("Removed {key}."),
        "forget a key",
    )
    for each in (exporting, removing):
        each.add_argument("key", metavar="KEY", help="its public key")
    exporting.add_argument("file", type=Path, metavar="FILE", help="the file, which must not exist")


class _Listed(msgspec.Struct):
    keys: list[str | dict[str, str]] = []
    watched: list[str] = []


def _lines(result: CommandResult) -> str:
    held = msgspec.convert(result, _Listed)
    keys_shown = [each if isinstance(each, str) else f"{each['key']}  {each['label']}".rstrip() for each in held.keys]
    return "\n".join([*keys_shown, *(f"watching {name}" for name in held.watched)])
