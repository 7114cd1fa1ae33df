"""The commands about files with transactions, proposals, memos and agents, and what a node says."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from ledgerd.basics.printable import shown_text
from ledgerd.wallet.arguments import common
from ledgerd.wallet.arguments.outcome import agents_words, outcome_words, proposals_words, table_words
from ledgerd.wallet.commands import agents, files, keys, proposals, show
from ledgerd.wallet.commands.keys import parsed_key
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.operations.reading import time_of

NEVER = 0


def add_transaction_commands(parts: common.Parts) -> None:
    signing = common.add_command(
        parts, "sign", _sign, outcome_words, "sign the transaction of a file, without a network"
    )
    signing.add_argument("file", type=Path, metavar="FILE", help="the transaction; the signatures are added to it")
    signing.add_argument("--key", action="append", default=[], help="sign with this key; may be repeated")
    common.add_yes_option(signing)

    sending = common.add_command(
        parts,
        "broadcast",
        lambda chosen: files.broadcast(common.choices_of(chosen), chosen.file),
        outcome_words,
        "send the transaction of a file",
    )
    sending.add_argument("file", type=Path, metavar="FILE", help="the transaction")
    asking = common.add_command(
        parts,
        "status",
        lambda chosen: files.status(common.choices_of(chosen), chosen.transaction),
        outcome_words,
        "say where a transaction is",
    )
    asking.add_argument("transaction", metavar="FILE_OR_ID", help="its file, or its id")
    for each in (sending, asking):
        common.add_node_options(each)
        common.add_wait_option(each)


def _sign(chosen: argparse.Namespace) -> CommandResult:
    return files.sign(common.choices_of(chosen), chosen.file, [parsed_key(each) for each in chosen.key])


def add_proposal_commands(parts: common.Parts) -> None:
    def create(chosen: argparse.Namespace) -> CommandResult:
        now = int(time.time())
        until = time_of(chosen.expires, lambda: now)
        review = None if chosen.review is None else time_of(chosen.review, lambda: now)
        return proposals.create(
            common.choices_of(chosen), chosen.author, chosen.title, chosen.files, until, chosen.memo, review
        )

    creating = common.add_command(parts, "create", create, outcome_words, "propose the operations of files")
    creating.add_argument("author", metavar="AUTHOR", help="the account that proposes")
    creating.add_argument("title", metavar="TITLE", help="a title that the author has not used")
    creating.add_argument("files", metavar="FILE", type=Path, nargs="+", help="written by a command with --save")
    creating.add_argument("--expires", default="+1d", metavar="TIME", help="until when it waits (default: +1d)")
    creating.add_argument("--review", metavar="TIME", help="carried out no earlier than then")
    creating.add_argument("--memo", default="", help="for those who approve")
    common.add_sending_options(creating)
    reviewing = common.add_command(
        parts,
        "review",
        lambda chosen: proposals.review(common.choices_of(chosen), chosen.account, chosen.title),
        proposals_words,
        "show proposals in words",
    )
    reviewing.add_argument("account", metavar="ACCOUNT", help="who has made them, or has to approve them")
    reviewing.add_argument("title", metavar="TITLE", nargs="?", help="only this one")
    common.add_node_options(reviewing)
    for name, is_added, help_text in (
        ("approve", True, "approve a proposal"),
        ("unapprove", False, "take an approval back"),
    ):
        approving = common.add_command(parts, name, _approving(is_added=is_added), outcome_words, help_text)
        _add_proposal(approving)
        approving.add_argument("accounts", metavar="ACCOUNT", nargs="+", help="who approves")
        approving.add_argument("--role", choices=proposals.ROLES, default="active", help="with which authority")
        common.add_sending_options(approving)
    withdrawing = common.add_command(
        parts,
        "withdraw",
        lambda chosen: proposals.withdraw(common.choices_of(chosen), chosen.author, chosen.title, chosen.account),
        outcome_words,
        "delete a proposal",
    )
    _add_proposal(withdrawing)
    withdrawing.add_argument("account", metavar="ACCOUNT", help="its author, or who has to approve it")
    common.add_sending_options(withdrawing)


def _approving(*, is_added: bool) -> common.Command:
    return lambda chosen: proposals.approve(
        common.choices_of(chosen), chosen.author, chosen.title, chosen.accounts, chosen.role, is_added=is_added
    )


def _add_proposal(made: argparse.ArgumentParser) -> None:
    made.add_argument("author", metavar="AUTHOR", help="who has made it")
    made.add_argument("title", metavar="TITLE", help="its title")


def add_agent_commands(parts: common.Parts) -> None:

    def grant(chosen: argparse.Namespace) -> CommandResult:
        now = int(time.time())
        expiration = NEVER if chosen.expires is None else time_of(chosen.expires, lambda: now)
        return agents.grant(
            common.choices_of(chosen),
            chosen.account,
            chosen.name,
            parsed_key(chosen.key),
            chosen.operations,
            expiration,
        )

    granting = common.add_command(parts, "grant", grant, outcome_words, "let a key sign some operations for an account")
    revoking = common.add_command(
        parts,
        "revoke",
        lambda chosen: agents.revoke(common.choices_of(chosen), chosen.account, chosen.name),
        outcome_words,
        "take back what an agent may do",
    )
    for each in (granting, revoking):
        each.add_argument("account", metavar="ACCOUNT", help="for which it signs")
        each.add_argument("name", metavar="NAME", help="what the agent is called")
    granting.add_argument("key", metavar="KEY", help="its public key")
    granting.add_argument("operations", metavar="OPERATION", nargs="+", help="what it may sign")
    granting.add_argument("--expires", metavar="TIME", help="until when, such as +30d; without end if absent")
    for each in (granting, revoking):
        common.add_sending_options(each)
    listing = common.add_command(
        parts,
        "list",
        lambda chosen: agents.list_agents(common.choices_of(chosen), chosen.account),
        agents_words,
        "list the agents of an account",
    )
    listing.add_argument("account", metavar="ACCOUNT", help="its name")
    common.add_node_options(listing)


def add_memo_commands(parts: common.Parts) -> None:
    reading = common.add_command(
        parts,
        "read",
        lambda chosen: keys.read_memo(common.path_of(chosen), chosen.memo),
        lambda result: shown_text(str(result["text"])),
        "read an encrypted memo",
    )
    reading.add_argument("memo", metavar="MEMO", help="the memo, which begins with #")


def _asking(question: Callable[[NodeClient, argparse.Namespace], CommandResult]) -> common.Command:
    def asked(chosen: argparse.Namespace) -> CommandResult:
        with common.choices_of(chosen).checked_node() as (node, _):
            return question(node, chosen)

    return asked


SHOWN: dict[str, tuple[str, Callable[[NodeClient, argparse.Namespace], CommandResult]]] = {
    "account": ("show an account", lambda node, chosen: show.account(node, chosen.name)),
    "validator": (
        "show a validator, or those with the most votes",
        lambda node, chosen: show.validator(node, chosen.name, chosen.limit),
    ),
    "proposal": (
        "show the proposals of an account, and those that wait for it",
        lambda node, chosen: show.proposal(node, chosen.name),
    ),
    "committee": (
        "show a request to the committee, or all that are voted on",
        lambda node, chosen: show.committee(node, chosen.number),
    ),
    "history": (
        "show the latest operations of an account",
        lambda node, chosen: show.history(node, chosen.name, chosen.limit),
    ),
}


def add_show_commands(parts: common.Parts) -> None:
    made = {
        name: common.add_command(parts, name, _asking(question), table_words, help_text)
        for name, (help_text, question) in SHOWN.items()
    }
    for name in ("account", "proposal", "history"):
        made[name].add_argument("name", metavar="ACCOUNT", help="its name")
    made["validator"].add_argument("name", metavar="ACCOUNT", nargs="?", help="its account")
    made["committee"].add_argument("number", metavar="NUMBER", type=int, nargs="?", help="the number of the request")
    for name in ("validator", "history"):
        made[name].add_argument("--limit", type=int, default=20, help="how many (default: 20)")
    for each in made.values():
        common.add_node_options(each)
