"""The arguments of the commands that keep private keys."""

from __future__ import annotations

from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands


def add_key(commands: Commands) -> None:
    arguments = commands.add_parser(
        "key",
        help="create signing keys for a validator, or print their public keys",
        description="Makes a new private key where the file does not exist, readable by its owner alone, for "
        "`private-key-file` of a validator's configuration. Prints the public key, or those of all keys in the file; "
        "private keys are never shown.",
    )
    add = arguments.add_argument
    add("file", type=Path, metavar="FILE", help="the file of private keys in WIF, one on each line")
    add("--add", action="store_true", help="make one more key in the file, and print that one alone")
    add("--remove", metavar="PUBLIC_KEY", help="take this key out of the file")
    add(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="have the node that runs there read its key files again, and wait until it has: it needs no restart",
    )


def add_wallet(commands: Commands) -> None:
    commands.add_parser("wallet", help="keep private keys, sign and send transactions (ledgerd wallet --help)")
