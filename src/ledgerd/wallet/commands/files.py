"""Transactions in files, for several signers and for machines without a network: sign, send, ask what became of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.sdk.transactions import search
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.search import GRACE_SECONDS
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import Choices, confirmed_and_signed, own_keys, result_of
from ledgerd.wallet.errors import ExpiredTransaction, KeyNotFound, NotSent, OtherChain, WalletError
from ledgerd.wallet.keys.session import session_of
from ledgerd.wallet.node.checks import chain_words, recall
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.transactions import sending
from ledgerd.wallet.transactions.draft import load, save, signers_offline, signers_online
from ledgerd.wallet.transactions.review import lines_of, review_of

HISTORY = "operation_history"
NOT_TOLD = "the file does not say who has to sign"


def sign(choices: Choices, path: Path, wanted: Sequence[PublicKey]) -> CommandResult:
    session = session_of(choices.wallet)
    loaded = load(path)
    draft = loaded.draft
    used = bytes.fromhex(recall(choices.wallet).chain_id)
    if used not in (b"", draft.chain_id):
        raise OtherChain(
            f"{path} is for the chain {chain_words(draft.chain_id)}, this wallet is used with {chain_words(used)}"
        )
    if wanted:
        keys: Sequence[PublicKey] = [key for key in wanted if key not in draft.signed_by]
        missing = NOT_TOLD
        if loaded.authorities:
            missing = signers_offline(loaded).missing({*keys, *draft.signed_by})
    else:
        choice = signers_offline(loaded).choose(own_keys(session), draft.signed_by)
        keys, missing = choice.keys, choice.missing
    if not keys:
        raise KeyNotFound(missing or "everybody has signed: send it with `ledgerd wallet broadcast`")
    review = review_of(draft, keys, missing)
    signed = confirmed_and_signed(draft, keys, session, choices, review, "Sign this?")
    save(path, signed, loaded.authorities, loaded.agents, replaces=True)
    return {**result_of(review), "state": "partly signed" if missing else "signed", "file": str(path)}


def broadcast(choices: Choices, path: Path) -> CommandResult:
    draft = load(path).draft
    with choices.checked_nodes() as (nodes, chain):
        return _broadcast_through(nodes, chain, draft, choices, path)


def _broadcast_through(
    nodes: Sequence[NodeClient], chain: ChainStatus, draft: Draft, choices: Choices, path: Path
) -> CommandResult:
    if chain.chain_id != draft.chain_id:
        raise OtherChain(
            f"{path} is for the chain {chain_words(draft.chain_id)}, the node's is {chain_words(chain.chain_id)}"
        )
    if draft.transaction.expiration < chain.head_time:
        raise ExpiredTransaction(f"the transaction in {path} has expired: nothing was sent, make it again")
    missing = signers_online(draft, LedgerReader(nodes[0])).missing(draft.signed_by)
    review = review_of(draft, (), missing)
    if missing:
        choices.show("\n".join(lines_of(review)))
        raise KeyNotFound(f"not everybody has signed: {missing}")
    left = max(0.0, draft.transaction.expiration - chain.head_time)
    outcome = sending.TransactionFollower(nodes, draft, left + GRACE_SECONDS).send(choices.until)
    return {**result_of(review), "state": outcome.state, "block": outcome.block}


def status(choices: Choices, named: str) -> CommandResult:
    """The state of a transaction: for a file by the blocks, for an id by the node's record of operations."""
    path = Path(named)
    draft = load(path).draft if path.exists() else None
    number = _id(named) if draft is None else ""
    with choices.checked_nodes() as (nodes, chain):
        if draft is None:
            return _by_id(nodes[0].call(HISTORY, "get_transaction", number), number, chain.irreversible)
        return _followed(nodes, chain, draft, choices)


def _followed(nodes: Sequence[NodeClient], chain: ChainStatus, draft: Draft, choices: Choices) -> CommandResult:
    left = max(0.0, draft.transaction.expiration - chain.head_time)
    follower = sending.TransactionFollower(nodes, draft, left + GRACE_SECONDS)
    outcome = follower.check()
    if choices.until is sending.Until.IRREVERSIBLE and outcome.state != search.NOT_SENT:
        outcome = follower.wait(choices.until)
    if outcome.state == search.NOT_SENT:
        raise NotSent(f"the transaction {draft.id} has expired and is in no block")
    return {"id": draft.id, "state": outcome.state, "block": outcome.block}


def _by_id(record: object, named: str, irreversible: int) -> CommandResult:
    if not isinstance(record, dict) or not isinstance(record.get("block_num"), int):
        raise WalletError(f"the node does not know the transaction {named}")
    block = record["block_num"]
    state = search.IN_A_BLOCK if block > irreversible else search.IRREVERSIBLE if block else search.PENDING
    return {"id": named, "state": state, "block": block}


def _id(named: str) -> str:
    try:
        if len(bytes.fromhex(named)) == len(bytes(20)):
            return named.lower()
    except ValueError:
        pass
    raise WalletError(f"{named} is neither a file nor the id of a transaction (40 hex digits)")
