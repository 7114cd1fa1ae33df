"""The commands about files with transactions, proposals, memos and agents, and what a node says."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from ledgerd.basics.printable import shown_text
from ledgerd.wallet.arguments.common import (
    Command,
    Parts,
    add_command,
    add_node_options,
    add_sending_options,
    add_wait_option,
    add_yes_option,
    choices_of,
    path_of,
)
from ledgerd.wallet.arguments.outcome import agents_words, outcome_words, proposals_words, table_words
from ledgerd.wallet.commands import agents, files, keys, proposals, show
from ledgerd.wallet.commands.keys import parsed_key
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.operations.reading import time_of

NEVER = 0


def add_transaction_commands(parts: Parts) -> None:
    signing = add_command(parts, "sign", _sign, outcome_words, "sign the transaction of a file, without a network")
    signing.add_argument("file", type=Path, metavar="FILE", help="the transaction; the signatures are added to it")
    signing.add_argument("--key", action="append", default=[], help="sign with this key; may be repeated")
    add_yes_option(signing)

    sending = add_command(
        parts,
        "broadcast",
        lambda chosen: files.broadcast(choices_of(chosen), chosen.file),
        outcome_words,
        "send the transaction of a file",
    )
    sending.add_argument("file", type=Path, metavar="FILE", help="the transaction")
    asking = add_command(
        parts,
        "status",
        lambda chosen: files.status(choices_of(chosen), chosen.transaction),
        outcome_words,
        "say where a transaction is",
    )
    asking.add_argument("transaction", metavar="FILE_OR_ID", help="its file, or its id")
    for each in (sending, asking):
        add_node_options(each)
        add_wait_option(each)


def _sign(chosen: argparse.Namespace) -> CommandResult:
    return files.sign(choices_of(chosen), chosen.file, [parsed_key(each) for each in chosen.key])


def add_proposal_commands(parts: Parts) -> None:
    def create(chosen: argparse.Namespace) -> CommandResult:
        now = int(time.time())
        until = time_of(chosen.expires, lambda: now)
        review = None if chosen.review is None else time_of(chosen.review, lambda: now)
        return proposals.create(
            choices_of(chosen), chosen.author, chosen.title, chosen.files, until, chosen.memo, review
        )

    creating = add_command(parts, "create", create, outcome_words, "propose the operations of files")
    creating.add_argument("author", metavar="AUTHOR", help="the account that proposes")
    creating.add_argument("title", metavar="TITLE", help="a title that the author has not used")
    creating.add_argument("files", metavar="FILE", type=Path, nargs="+", help="written by a command with --save")
    creating.add_argument("--expires", default="+1d", metavar="TIME", help="until when it waits (default: +1d)")
    creating.add_argument("--review", metavar="TIME", help="carried out no earlier than then")
    creating.add_argument("--memo", default="", help="for those who approve")
    add_sending_options(creating)
    reviewing = add_command(
        parts,
        "review",
        lambda chosen: proposals.review(choices_of(chosen), chosen.account, chosen.title),
        proposals_words,
        "show proposals in words",
    )
    reviewing.add_argument("account", metavar="ACCOUNT", help="who has made them, or has to approve them")
    reviewing.add_argument("title", metavar="TITLE", nargs="?", help="only this one")
    add_node_options(reviewing)
    for name, is_added, help_text in (
        ("approve", True, "approve a proposal"),
        ("unapprove", False, "take an approval back"),
    ):
        approving = add_command(parts, name, _approving(is_added=is_added), outcome_words, help_text)
        _add_proposal(approving)
        approving.add_argument("accounts", metavar="ACCOUNT", nargs="+", help="who approves")
        approving.add_argument("--role", choices=proposals.ROLES, default="active", help="with which authority")
        add_sending_options(approving)
    withdrawing = add_command(
        parts,
        "withdraw",
        lambda chosen: proposals.withdraw(choices_of(chosen), chosen.author, chosen.title, chosen.account),
        outcome_words,
        "delete a proposal",
    )
    _add_proposal(withdrawing)
    withdrawing.add_argument("account", metavar="ACCOUNT", help="its author, or who has to approve it")
    add_sending_options(withdrawing)


def _approving(*, is_added: bool) -> Command:
    return lambda chosen: proposals.approve(
        choices_of(chosen), chosen.author, chosen.title, chosen.accounts, chosen.role, is_added=is_added
    )


def _add_proposal(made: argparse.ArgumentParser) -> None:
    made.add_argument("author", metavar="AUTHOR", help="who has made it")
    made.add_argument("title", metavar="TITLE", help="its title")


def add_agent_commands(parts: Parts) -> None:

    def grant(chosen: argparse.Namespace) -> CommandResult:
        now = int(time.time())
        expiration = NEVER if chosen.expires is None else time_of(chosen.expires, lambda: now)
        return agents.grant(
            choices_of(chosen), chosen.account, chosen.name, parsed_key(chosen.key), chosen.operations, expiration
        )

    granting = add_command(parts, "grant", grant, outcome_words, "let a key sign some operations for an account")
    revoking = add_command(
        parts,
        "revoke",
        lambda chosen: agents.revoke(choices_of(chosen), chosen.account, chosen.name),
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
        add_sending_options(each)
    listing = add_command(
        parts,
        "list",
        lambda chosen: agents.list_agents(choices_of(chosen), chosen.account),
        agents_words,
        "list the agents of an account",
    )
    listing.add_argument("account", metavar="ACCOUNT", help="its name")
    add_node_options(listing)


def add_memo_commands(parts: Parts) -> None:
    reading = add_command(
        parts,
        "read",
        lambda chosen: keys.read_memo(path_of(chosen), chosen.memo),
        lambda result: shown_text(str(result["text"])),
        "read an encrypted memo",
    )
    reading.add_argument("memo", metavar="MEMO", help="the memo, which begins with #")


def _asking(question: Callable[[NodeClient, argparse.Namespace], CommandResult]) -> Command:
    def asked(chosen: argparse.Namespace) -> CommandResult:
        with choices_of(chosen).checked_node() as (node, _):
            return question(node, chosen)

    return asked


def add_show_commands(parts: Parts) -> None:
    account = add_command(
        parts, "account", _asking(lambda node, chosen: show.account(node, chosen.name)), table_words, "show an account"
    )
    validator = add_command(
        parts,
        "validator",
        _asking(lambda node, chosen: show.validator(node, chosen.name, chosen.limit)),
        table_words,
        "show a validator, or those with the most votes",
    )
    proposal = add_command(
        parts,
        "proposal",
        _asking(lambda node, chosen: show.proposal(node, chosen.name)),
        table_words,
        "show the proposals of an account, and those that wait for it",
    )
    committee = add_command(
        parts,
        "committee",
        _asking(lambda node, chosen: show.committee(node, chosen.number)),
        table_words,
        "show a request to the committee, or all that are voted on",
    )
    history = add_command(
        parts,
        "history",
        _asking(lambda node, chosen: show.history(node, chosen.name, chosen.limit)),
        table_words,
        "show the latest operations of an account",
    )
    for each in (account, proposal, history):
        each.add_argument("name", metavar="ACCOUNT", help="its name")
    validator.add_argument("name", metavar="ACCOUNT", nargs="?", help="its account")
    committee.add_argument("number", metavar="NUMBER", type=int, nargs="?", help="the number of the request")
    for each in (validator, history):
        each.add_argument("--limit", type=int, default=20, help="how many (default: 20)")
    for each in (account, validator, proposal, committee, history):
        add_node_options(each)
