"""Proposals: operations that wait for the approvals of others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ledgerd.basics.printable import shown_text
from ledgerd.codec import codec_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts import proposals
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import Choices, send
from ledgerd.wallet.errors import NodesDisagree, OtherChain, WalletError
from ledgerd.wallet.node.checks import chain_words
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.operations.words import words_of
from ledgerd.wallet.transactions.draft import load

ROLES = ("active", "master", "regular")
PAGE = 100


class Proposed(msgspec.Struct, frozen=True):
    """A proposal as the wallet shows it."""

    author: str
    title: str
    record: dict[str, Any]
    operations: tuple[Operation, ...]


def create(
    choices: Choices, author: str, title: str, files: Sequence[Path], expiration: int, memo: str, review: int | None
) -> CommandResult:
    """Propose the operations of these files, whose own expiration and signatures do not matter."""
    drafts = [load(each).draft for each in files]

    def make(chain: ChainStatus) -> Sequence[Operation]:
        for path, draft in zip(files, drafts, strict=True):
            if draft.chain_id != chain.chain_id:
                raise OtherChain(f"{path} is for the chain {chain_words(draft.chain_id)}")
        wrapped = tuple(proposals.OperationWrapper(each) for draft in drafts for each in draft.transaction.operations)
        return [proposals.ProposalCreate(AccountName(author), title, memo, expiration, wrapped, review, ())]

    return send(choices, make)


def approve(
    choices: Choices, author: str, title: str, accounts: Sequence[str], role: str, *, is_added: bool
) -> CommandResult:
    """Approve a proposal with the authority of accounts, or take that back; the operations are shown first."""
    _show(choices, author, title)
    names = tuple(AccountName(each) for each in sorted(set(accounts)))
    fields = {f"{each}_approvals_to_{way}": () for each in (*ROLES, "key") for way in ("add", "remove")}
    fields[f"{role}_approvals_to_{'add' if is_added else 'remove'}"] = names  # type: ignore[assignment]
    update = proposals.ProposalUpdate(author=AccountName(author), title=title, extensions=(), **fields)
    return send(choices, lambda _: [update])


def withdraw(choices: Choices, author: str, title: str, requester: str) -> CommandResult:
    deletion = proposals.ProposalDelete(AccountName(author), title, AccountName(requester), ())
    return send(choices, lambda _: [deletion])


def review(choices: Choices, account: str, title: str | None) -> CommandResult:
    with choices.checked_node() as (node, _):
        found = [each for each in proposals_of(node, account) if title in (None, each.title)]
    if title is not None and not found:
        raise WalletError(f"{account} has no proposal {title}, and none of this title waits for it")
    return {
        "proposals": [
            {**each.record, "words": [line for operation in each.operations for line in words_of(operation)]}
            for each in found
        ]
    }


def proposals_of(node: NodeClient, account: str) -> list[Proposed]:
    records = node.call("database_api", "get_proposed_transactions", account, 0, PAGE)
    read = codec_of(Operation).from_json
    with node.understood():
        return [
            Proposed(each["author"], each["title"], each, tuple(map(read, each["proposed_operations"])))
            for each in records
        ]


def _show(choices: Choices, author: str, title: str) -> None:
    """Show what is approved, as the node says. With two nodes both have to say so, since an approval names only the
    title.
    """
    with choices.checked_nodes() as (nodes, _):
        listed = [proposals_of(node, author) for node in nodes]
    found = [[each.operations for each in one if (each.author, each.title) == (author, title)] for one in listed]
    if not found[0]:
        raise WalletError(f"{author} has no proposal {title}")
    if any(each != found[0] for each in found):
        raise NodesDisagree(f"the nodes say different things of the proposal {title} of {author}")
    lines = [line for operations in found[0] for operation in operations for line in words_of(operation)]
    choices.show("\n".join([f"The proposal {shown_text(title)} of {author}, as the node says:", *lines]))
