"""The command line of `ledgerd wallet`: its arguments, and how results and errors are printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from ledgerd.protocol.secrets import without_keys
from ledgerd.wallet.commands import keys
from ledgerd.wallet.commands.keys import Result
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.exit_codes import DONE, exit_code
from ledgerd.wallet.keys.entry import SecretSource
from ledgerd.wallet.keys.keeper import IDLE_SECONDS, ROLES

Command = Callable[[argparse.Namespace], Result]


class Parser(argparse.ArgumentParser):
    """A parser whose errors show no private key: somebody may have typed one as an argument."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit."""
        super().error(without_keys(message))


def parser() -> argparse.ArgumentParser:
    """All commands."""
    arguments = Parser(
        prog="ledgerd wallet",
        description="Private keys are in an encrypted file, and while the wallet is unlocked in one process, which "
        "ends when it is locked. No key and no password is ever an argument: they are typed at the terminal, or read "
        "from a descriptor or a file.",
    )
    parts = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_file_commands(parts)
    of_keys = parts.add_parser("key", help="make, import, list, export and remove keys")
    _add_key_commands(of_keys.add_subparsers(title="commands", metavar="COMMAND", required=True))
    return arguments


def main(words: Sequence[str]) -> int:
    """Carry a command out, print its result or its error, and give the exit code."""
    chosen = parser().parse_args(words)
    try:
        result = chosen.command(chosen)
    except WalletError as refused:
        if chosen.json:
            _print_json({"ok": False, "error": {"kind": type(refused).__name__, "message": str(refused)}})
        else:
            sys.stderr.write(f"ledgerd wallet: {refused}\n")
        return exit_code(refused)
    if chosen.json:
        _print_json({"ok": True, "result": result})
    else:
        sys.stdout.write(f"{chosen.words.format(**result) if chosen.words else _lines(result)}\n")
    return DONE


def _add_file_commands(parts: argparse._SubParsersAction[Any]) -> None:
    def create(chosen: argparse.Namespace) -> Result:
        return keys.create(_path(chosen), _secret(chosen))

    def unlock(chosen: argparse.Namespace) -> Result:
        return keys.open_session(_path(chosen), _secret(chosen), chosen.minutes)

    def password(chosen: argparse.Namespace) -> Result:
        return keys.change_password(_path(chosen), _secret(chosen), _secret(chosen, "new-password"))

    _add(parts, "create", create, "Made {wallet}. Unlock it with: ledgerd wallet unlock", "make a wallet", "password")
    words = "Unlocked {wallet}. It locks itself after {locks_in_seconds} seconds without use."
    unlocking = _add(parts, "unlock", unlock, words, "unlock the wallet", "password")
    unlocking.add_argument(
        "--minutes",
        type=float,
        default=IDLE_SECONDS / 60,
        help=f"lock after so long without use; {IDLE_SECONDS / 60:g} if absent",
    )
    _add(parts, "lock", lambda chosen: keys.lock(_path(chosen)), "Locked {wallet}.", "lock the wallet")
    words = "The password of {wallet} was changed. Backups still have the old one."
    _add(parts, "password", password, words, "change the password", "password", "new-password")
    copy, words = lambda chosen: keys.backup(_path(chosen), chosen.file), "{wallet} was copied to {backup}, encrypted."
    saving = _add(parts, "backup", copy, words, "copy the wallet, encrypted as it is")
    back, words = lambda chosen: keys.restore(_path(chosen), chosen.file), "{backup} is the wallet {wallet} now."
    restoring = _add(parts, "restore", back, words, "make a backup the wallet again")
    for each in (saving, restoring):
        each.add_argument("file", type=Path, metavar="FILE", help="the backup")
    for name, words, help_text in (
        ("watch", "Watching {account}.", "list an account without having its keys"),
        ("unwatch", "No longer watching {account}.", "do not list a watched account any more"),
    ):
        watching = _add(parts, name, _watching(is_watched=name == "watch"), words, help_text)
        watching.add_argument("name", metavar="ACCOUNT", help="its name")


def _watching(*, is_watched: bool) -> Command:
    return lambda chosen: keys.watch(_path(chosen), chosen.name, is_watched=is_watched)


def _add_key_commands(parts: argparse._SubParsersAction[Any]) -> None:
    def derive(chosen: argparse.Namespace) -> Result:
        return keys.derive_keys(_path(chosen), _secret(chosen, "secret"), chosen.account, chosen.role or ROLES)

    def take(chosen: argparse.Namespace) -> Result:
        return keys.import_key(_path(chosen), _secret(chosen, "secret"), chosen.label)

    _add(parts, "list", lambda chosen: keys.list_keys(_path(chosen)), "", "list public keys and watched accounts")
    making = _add(parts, "new", lambda chosen: keys.new_key(_path(chosen), chosen.label), "{key}", "make a key")
    taking = _add(parts, "import", take, "{key}", "take a private key in WIF", "secret")
    for each in (making, taking):
        each.add_argument("--label", default="", help="what to call it")
    deriving = _add(parts, "derive", derive, "", "make the keys of an account from its password", "secret")
    deriving.add_argument("account", metavar="ACCOUNT", help="its name")
    deriving.add_argument("--role", action="append", choices=ROLES, help="only the key of this role; may be repeated")
    words = "{key} was written to {file}."
    exporting = _add(
        parts,
        "export",
        lambda chosen: keys.export_key(_path(chosen), chosen.key, chosen.file),
        words,
        "write a private key to a new file of yours alone, for a validator",
    )
    removing = _add(
        parts, "remove", lambda chosen: keys.remove_key(_path(chosen), chosen.key), "Removed {key}.", "forget a key"
    )
    for each in (exporting, removing):
        each.add_argument("key", metavar="KEY", help="its public key")
    exporting.add_argument("file", type=Path, metavar="FILE", help="the file, which must not exist")


def _add(
    parts: argparse._SubParsersAction[Any], name: str, command: Command, words: str, help_text: str, *secrets: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = parts.add_parser(
        name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}."
    )
    made.add_argument("--wallet", type=Path, metavar="FILE", help="the wallet's file, if not the usual one")
    made.add_argument("--json", action="store_true", help="print JSON")
    for secret in secrets:
        made.add_argument(f"--{secret}-fd", type=int, metavar="N", help=f"read the {secret} from this descriptor")
        made.add_argument(f"--{secret}-file", type=Path, metavar="FILE", help=f"read the {secret} from this file")
    made.set_defaults(command=command, words=words)
    return made


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


class _Listed(msgspec.Struct):
    keys: list[str | dict[str, str]] = []
    watched: list[str] = []


def _lines(result: Result) -> str:
    """Keys with their labels, a line each."""
    held = msgspec.convert(result, _Listed)
    keys_shown = [each if isinstance(each, str) else f"{each['key']}  {each['label']}".rstrip() for each in held.keys]
    return "\n".join([*keys_shown, *(f"watching {name}" for name in held.watched)])


def _path(chosen: argparse.Namespace) -> Path:
    path: Path = chosen.wallet or keys.usual_path()
    return path


def _secret(chosen: argparse.Namespace, name: str = "password") -> SecretSource:
    field = name.replace("-", "_")
    return SecretSource(getattr(chosen, f"{field}_fd"), getattr(chosen, f"{field}_file"), name)
