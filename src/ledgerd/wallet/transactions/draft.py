"""A transaction on its way to its signatures, and the file that takes it from one wallet to another.

The bytes are what counts: whatever else a file says is compared with them, or marked as a node's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.wallet.errors import ForeignFile, WalletError
from ledgerd.wallet.node.checks import ChainStatus
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.transactions.signers import Signers
from ledgerd.wallet.whole_file import replace_whole, write_new

FORMAT = "ledgerd transaction 1"
LARGEST_FILE = 4 << 20
ROLES = ("regular", "active", "master")

AuthoritySet = tuple[Authority, Authority, Authority]


class Draft(msgspec.Struct, frozen=True):
    """A transaction for a chain, with the signatures that it has so far."""

    chain_id: ChainId
    transaction: Transaction
    block: int

    @property
    def unsigned(self) -> bytes:
        return self.transaction.unsigned

    @property
    def id(self) -> str:
        return self.transaction.id.hex()

    @property
    def signed_by(self) -> frozenset[PublicKey]:
        return self.transaction.signature_keys(self.chain_id)

    def with_signatures(self, signatures: Iterable[Signature]) -> Draft:
        signed = msgspec.structs.replace(self.transaction, signatures=(*self.transaction.signatures, *signatures))
        return msgspec.structs.replace(self, transaction=signed)


def draft_of(chain: ChainStatus, seconds: float, operations: Iterable[Operation], now: float = 0) -> Draft:
    """A new transaction: it refers to the head block, and expires so many seconds after it, or after now if later."""
    latest = chain.head_time + MAX_TIME_UNTIL_EXPIRATION
    expiration = min(max(chain.head_time, int(now)) + int(seconds), latest)
    transaction = unsigned_transaction(chain.head, expiration, operations)
    again = codec_of(Transaction).decode_exactly(codec_of(Transaction).encode(transaction))
    return Draft(chain.chain_id, again, chain.head_number)


class DraftFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a file."""

    format: str
    chain_id: str
    transaction: str
    """Hex of all its bytes, signatures included."""
    id: str
    reference_block: int
    expiration: str
    authorities: dict[str, dict[str, Any]] = {}
    """Who signs for the accounts that are asked, as a node has told: a machine without a node chooses keys by it."""
    agents: dict[str, dict[str, list[str]]] = {}
    """Of each account, for each operation, the keys of its agents."""


class Loaded(msgspec.Struct, frozen=True):
    """What was read from a file."""

    draft: Draft
    authorities: Mapping[AccountName, AuthoritySet]
    agents: Mapping[str, Mapping[str, list[str]]]


def save(
    path: Path,
    draft: Draft,
    authorities: Mapping[AccountName, AuthoritySet],
    agents: Mapping[str, Mapping[str, list[str]]],
    *,
    replaces: bool = False,
) -> None:
    """Write a transaction to a file; one that exists is replaced only by itself with more signatures."""
    authority = codec_of(Authority)
    known: dict[str, dict[str, Any]] = {
        name: {role: msgspec.json.decode(authority.to_json(each)) for role, each in zip(ROLES, three, strict=True)}
        for name, three in authorities.items()
    }
    file = DraftFile(
        FORMAT,
        draft.chain_id.hex(),
        draft.transaction.packed.hex(),
        draft.id,
        draft.block,
        time_text(draft.transaction.expiration),
        known,
        {name: dict(each) for name, each in agents.items()},
    )
    raw = msgspec.json.format(msgspec.json.encode(file)) + b"\n"
    (replace_whole if replaces else write_new)(path, raw)


def load(path: Path) -> Loaded:
    try:
        with path.open("rb") as opened:
            raw = opened.read(LARGEST_FILE + 1)
        file = msgspec.json.decode(raw[:LARGEST_FILE], type=DraftFile)
        packed, chain_id = bytes.fromhex(file.transaction), bytes.fromhex(file.chain_id)
        transaction = codec_of(Transaction).decode_exactly(packed)
        known = {
            AccountName(name): tuple(codec_of(Authority).from_json(each[role]) for role in ROLES)
            for name, each in file.authorities.items()
        }
    except OSError as problem:
        raise WalletError(f"{path} cannot be read: {problem.strerror}") from problem
    except (msgspec.MsgspecError, ValueError, KeyError, RuleViolation, CodecError) as problem:
        raise ForeignFile(f"{path} is no transaction of this wallet: {problem}") from None
    draft = Draft(ChainId(chain_id), transaction, file.reference_block)
    contradictions = {
        "format": file.format != FORMAT,
        "transaction": codec_of(Transaction).encode(transaction) != packed or not transaction.operations,
        "id": file.id != draft.id,
        "reference_block": file.reference_block & 0xFFFF != transaction.ref_block_num,
        "expiration": file.expiration != time_text(transaction.expiration),
        "chain_id": len(chain_id) != len(ChainId(bytes(32))),
    }
    wrong = [name for name, is_wrong in contradictions.items() if is_wrong]
    if wrong:
        raise ForeignFile(f"{path} was changed: its {wrong[0]} is not that of its bytes")
    try:
        _ = draft.signed_by
    except RuleViolation as problem:
        raise ForeignFile(f"{path} has a signature that is none: {problem.message}") from None
    return Loaded(draft, known, file.agents)  # type: ignore[arg-type]  # three each


def signers_online(draft: Draft, ledger: LedgerReader) -> Signers:
    ledger.learn(
        {*draft.transaction.required.active, *draft.transaction.required.master, *draft.transaction.required.regular}
    )
    return Signers(draft.transaction, ledger.authorities, ledger.agent_keys)


def signers_offline(loaded: Loaded) -> Signers:
    def authorities(name: AccountName) -> AuthoritySet:
        found = loaded.authorities.get(name)
        if found is None:
            raise WalletError(f"the file does not say who signs for {name}: choose the key with --key")
        return found

    def agent_keys(name: AccountName, operation: str) -> list[PublicKey]:
        told = loaded.agents.get(name, {}).get(operation, [])
        return [codec_of(PublicKey).from_json(each) for each in told]

    return Signers(loaded.draft.transaction, authorities, agent_keys)
