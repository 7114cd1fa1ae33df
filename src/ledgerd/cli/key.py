"""`ledgerd key`: makes a signing key in a file that only its owner can read, and prints its public key."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.protocol.keys import PrivateKey


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    arguments = commands.add_parser(
        "key",
        help="create a signing key for a validator, or print its public key",
        description="Makes a new private key where the file does not exist, readable by its owner alone, for "
        "`private-key-file` of a validator's configuration. Prints the public key; the private one is never shown.",
    )
    arguments.add_argument("file", type=Path, metavar="FILE", help="the file of the private key, in WIF")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Make a key unless the file exists, and print the public key."""
    from ledgerd.protocol.keys import public_key_text  # noqa: PLC0415 - not loaded for `--help`

    sys.stdout.write(public_key_text(_key(chosen.file).public) + "\n")
    return 0


def _key(file: Path) -> PrivateKey:
    import secrets  # noqa: PLC0415 - not loaded for `--help`

    from ledgerd.protocol.keys import InvalidKey, PrivateKey  # noqa: PLC0415

    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as problem:
        raise OperatorError(f"{file} cannot be written: {problem.strerror}") from problem
    else:
        key = PrivateKey(secrets.token_bytes(32))
        with open(descriptor, "w", encoding="ascii") as opened:  # noqa: PTH123 - by its descriptor, for its mode
            opened.write(key.wif + "\n")
        return key
    try:
        return PrivateKey.from_wif(file.read_text(encoding="ascii").strip())
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from problem
    except (InvalidKey, ValueError):
        raise OperatorError(f"{file} exists, and holds no private key in WIF: choose another file") from None
