"""All commands but the shell, and how a command's result or error is printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

import msgspec

from ledgerd.basics.printable import printable_lines
from ledgerd.wallet.arguments import transactions
from ledgerd.wallet.arguments.common import Parser, Parts
from ledgerd.wallet.arguments.keys import add_file_commands, add_key_commands
from ledgerd.wallet.arguments.operations import add_operation_commands
from ledgerd.wallet.arguments.validators import add_validator_commands
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.operations.reading import joined_amounts

DONE = 0
INTERRUPTED = 130
"""The exit code after Ctrl-C, before anything was sent: the usual one of shells."""

GROUPS = {
    "key": ("make, import, list, export and remove keys", add_key_commands),
    "proposal": ("operations that wait for the approvals of others", transactions.add_proposal_commands),
    "validator": ("declare a validator, vote, look at it, change its signing key", add_validator_commands),
    "agent": ("keys that may sign some operations for an account", transactions.add_agent_commands),
    "memo": ("encrypted memos", transactions.add_memo_commands),
    "show": ("what a node says, in tables", transactions.add_show_commands),
}


def command_parser(add_more: Callable[[Parts], None] = lambda _: None) -> Parser:
    arguments = Parser(
        prog="ledgerd wallet",
        description="Private keys are in an encrypted file, and while the wallet is unlocked in one process, which "
        "ends when it is locked. No key and no password is ever an argument: they are typed at the terminal, or read "
        "from a descriptor or a file. Before a transaction is signed, it is shown and you are asked.",
    )
    parts = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_more(parts)
    add_file_commands(parts)
    for name, (help_text, add) in GROUPS.items():
        group = parts.add_parser(name, help=help_text)
        add(group.add_subparsers(title="commands", metavar="COMMAND", required=True))
    transactions.add_transaction_commands(parts)
    add_operation_commands(parts)
    return arguments


def carry_out(
    parser: Parser, words: Sequence[str], prepare: Callable[[argparse.Namespace], None] = lambda _: None
) -> int:
    chosen = parser.parse_args(joined_amounts(words))
    prepare(chosen)
    try:
        result = chosen.command(chosen)
    except WalletError as refused:
        if chosen.is_json:
            _print_json({"ok": False, "error": {"kind": type(refused).__name__, "message": str(refused)}})
        else:
            sys.stderr.write(printable_lines(f"ledgerd wallet: {refused}\n"))
        return refused.EXIT_CODE
    except KeyboardInterrupt:
        sys.stderr.write("\nledgerd wallet: interrupted: nothing was sent\n")
        return INTERRUPTED
    if chosen.is_json:
        _print_json({"ok": True, "result": result})
    else:
        sys.stdout.write(printable_lines(f"{chosen.show(result)}\n"))
    return DONE


def _print_json(value: object) -> None:
    """A line of ASCII: a terminal may be there all the same."""
    sys.stdout.write(json.dumps(msgspec.to_builtins(value), separators=(",", ":")) + "\n")
