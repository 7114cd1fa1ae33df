"""A transaction on its way to its signatures, and the text that takes it from one program to another.

The bytes are what counts: whatever else a text says is compared with them, or marked as a node's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from ledgerd.protocol.types.identifiers import BlockId, ChainId, block_number_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.errors import ForeignDraft, SignersUnknown
from ledgerd.sdk.transactions.signers import Signers

FORMAT = "ledgerd transaction 1"
LARGEST_TEXT = 4 << 20
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


def draft_of(
    chain: ChainStatus,
    seconds: float,
    operations: Iterable[Operation],
    now: float = 0,
    reference: BlockId | None = None,
) -> Draft:
    """A new transaction: it refers to a block, the head if to no other, and expires so many seconds after the head, or
    after now if later.
    """
    block, latest = reference or chain.head, chain.head_time + MAX_TIME_UNTIL_EXPIRATION
    expiration = min(max(chain.head_time, int(now)) + int(seconds), latest)
    transaction = unsigned_transaction(block, expiration, operations)
    again = codec_of(Transaction).decode_exactly(codec_of(Transaction).encode(transaction))
    return Draft(chain.chain_id, again, block_number_of(block))


class DraftText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of the text."""

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
    """The keys of the agents of each account, for each operation."""


class Loaded(msgspec.Struct, frozen=True):
    """The content of a text."""

    draft: Draft
    authorities: Mapping[AccountName, AuthoritySet]
    agents: Mapping[str, Mapping[str, list[str]]]

    def signers(self) -> Signers:
        """Who has to sign, according to what the text says of the accounts."""
        return Signers(self.draft.transaction, self._authorities_of, self._agent_keys)

    def _authorities_of(self, name: AccountName) -> AuthoritySet:
        found = self.authorities.get(name)
        if found is None:
            raise SignersUnknown(f"the file does not say who signs for {name}")
        return found

    def _agent_keys(self, name: AccountName, operation: str) -> list[PublicKey]:
        told = self.agents.get(name, {}).get(operation, [])
        return [codec_of(PublicKey).from_json(each) for each in told]


def written(
    draft: Draft, authorities: Mapping[AccountName, AuthoritySet], agents: Mapping[str, Mapping[str, list[str]]]
) -> bytes:
    """The text of a transaction."""
    authority = codec_of(Authority)
    known: dict[str, dict[str, Any]] = {
        name: {role: msgspec.json.decode(authority.to_json(each)) for role, each in zip(ROLES, three, strict=True)}
        for name, three in authorities.items()
    }
    text = DraftText(
        FORMAT,
        draft.chain_id.hex(),
        draft.transaction.packed.hex(),
        draft.id,
        draft.block,
        time_text(draft.transaction.expiration),
        known,
        {name: dict(each) for name, each in agents.items()},
    )
    return msgspec.json.format(msgspec.json.encode(text)) + b"\n"


def read(raw: bytes) -> Loaded:
    """`ForeignDraft`: it is no such text, or was changed."""
    try:
        text = msgspec.json.decode(raw[:LARGEST_TEXT], type=DraftText)
        packed, chain_id = bytes.fromhex(text.transaction), bytes.fromhex(text.chain_id)
        transaction = codec_of(Transaction).decode_exactly(packed)
        known = {
            AccountName(name): tuple(codec_of(Authority).from_json(each[role]) for role in ROLES)
            for name, each in text.authorities.items()
        }
    except (msgspec.MsgspecError, ValueError, KeyError, RuleViolation, CodecError) as problem:
        raise ForeignDraft(f"is no transaction of this wallet: {problem}") from None
    draft = Draft(ChainId(chain_id), transaction, text.reference_block)
    contradictions = {
        "format": text.format != FORMAT,
        "transaction": codec_of(Transaction).encode(transaction) != packed or not transaction.operations,
        "id": text.id != draft.id,
        "reference_block": text.reference_block & 0xFFFF != transaction.ref_block_num,
        "expiration": text.expiration != time_text(transaction.expiration),
        "chain_id": len(chain_id) != len(ChainId(bytes(32))),
    }
    wrong = [name for name, is_wrong in contradictions.items() if is_wrong]
    if wrong:
        raise ForeignDraft(f"was changed: its {wrong[0]} is not that of its bytes")
    try:
        _ = draft.signed_by
    except RuleViolation as problem:
        raise ForeignDraft(f"has a signature that is none: {problem.message}") from None
    return Loaded(draft, known, text.agents)  # type: ignore[arg-type]  # three each
