"""Block generation: which transactions it takes, and its header (spec 03, section 22)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.rules.transactions.bounds import TRANSACTION_SECONDS, bounding_members, bounding_time
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at
from ledgerd.protocol.blocks import block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BLOCK_GENERATION_POSTPONED_TX_LIMIT, BLOCK_SIZE, COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE, Signature
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.accounts.proposals import ProposalCreate, ProposalUpdate
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import HardforkVersionVote
from ledgerd.state.objects.validators import Validator

log = logging.getLogger(__name__)

GENERATION_SECONDS = 0.4
"""Applying transactions for a block takes so long at most: the slot is three seconds long, and whoever gets the block
has to apply it too. What is left waits for another block.
"""

PROPOSALS_SHARE = 4
"""Where other transactions wait, those with proposals take at most this part of a block: the operations in a proposal
are carried out when it is made, and again when it is approved or ends.
"""

NO_SIGNATURE = Signature(bytes(SIGNATURE_SIZE))
"""As long as one, to measure a block before it is signed."""

EMPTY_BLOCK_SIZE = 115
"""A header without anything, and room for the count of transactions."""


class BlockDraft(NamedTuple):
    """The block of a slot before it is signed."""

    header: block.BlockHeader
    transactions: tuple[Transaction, ...]
    key: PublicKey
    """Whose signature the chain asks for."""

    def with_signature(self, signature: Signature) -> block.Block:
        return block.signed_block(self.header, self.transactions, signature)


def generate_block(
    ledger: Ledger, pending: Pending, when: int, name: AccountName, key: PrivateKey, skip: SkipFlags = Skip.NOTHING
) -> block.Block:
    """It still has to be pushed, as any other."""
    draft = draft_block(ledger, pending, when, name, key.public, skip)
    return block.sign_block(draft.header, draft.transactions, key)


def draft_block(
    ledger: Ledger, pending: Pending, when: int, name: AccountName, key: PublicKey, skip: SkipFlags
) -> BlockDraft:
    slot = slot_at(ledger, when)
    require(slot > 0, "slot_num > 0: ")
    require(scheduled_validator(ledger, slot) == name, "scheduled_validator == validator_owner: ")
    validator = pending.find_validator(name) or ledger.validator(name)
    if not skip & Skip.VALIDATOR_SIGNATURE:
        require(
            validator.signing_key == key,
            "validator_obj.signing_key == block_signing_private_key.get_public_key(): ",
        )
    ledger.account(name)
    transactions = _choose_transactions(ledger, pending, when, skip)
    header = block.BlockHeader(
        ledger.globals.head_block_id,
        when,
        name,
        block.merkle_root([transaction.merkle_digest for transaction in transactions]),
        _extensions(ledger, validator),
    )
    draft = BlockDraft(header, transactions, key)
    if not skip & Skip.BLOCK_SIZE:
        size = len(draft.with_signature(NO_SIGNATURE).packed)
        require(size <= BLOCK_SIZE, "fc::raw::pack_size(pending_block) <= CHAIN_BLOCK_SIZE: ")
    return draft


def _choose_transactions(ledger: Ledger, pending: Pending, when: int, skip: SkipFlags) -> tuple[Transaction, ...]:
    pending.drop_session()
    ledger.is_reporting = False
    ledger.cursor.time = when
    try:
        with ledger.store.begin():
            filling = BlockFilling(ledger, when, skip, pending.deadline)
            later: list[Transaction] = []
            share = ledger.globals.maximum_block_size // PROPOSALS_SHARE
            filling.add(_within_share(pending.transactions, share, later))
            filling.add(later)
    finally:
        ledger.is_reporting = True
    refused = filling.refused
    if refused:
        log.warning(
            "left %(transactions)d waiting transactions out of a block, the first is %(reason)s",
            {"transactions": len(refused), "reason": refused[0]},
        )
    return tuple(filling.chosen)


def _within_share(transactions: Iterable[Transaction], share: int, later: list[Transaction]) -> Iterator[Transaction]:
    """All in their order, but what contains proposals only within its share of bytes; the rest of it is for later."""
    size = 0
    for transaction in transactions:
        if any(isinstance(each, ProposalCreate | ProposalUpdate) for each in transaction.operations):
            if size + len(transaction.packed) > share:
                later.append(transaction)
                continue
            size += len(transaction.packed)
        yield transaction


class BlockFilling:
    """The transactions of a block that is being made.

    A few that do not fit are passed over; after too many of them the block counts as full.
    """

    def __init__(
        self, ledger: Ledger, when: int, skip: SkipFlags, deadline: Callable[[float], Callable[[], bool]]
    ) -> None:
        self.chosen: list[Transaction] = []
        self.refused: list[str] = []
        self._ledger, self._when, self._skip = ledger, when, skip
        self._deadline, self._is_late = deadline, deadline(GENERATION_SECONDS)
        self._size, self._limit, self._postponed = EMPTY_BLOCK_SIZE, ledger.globals.maximum_block_size, 0

    def add(self, transactions: Iterable[Transaction]) -> None:
        for transaction in transactions:
            if self._is_late():
                return
            if transaction.expiration < self._when:
                continue
            if self._size + len(transaction.packed) >= self._limit:
                if self._postponed > BLOCK_GENERATION_POSTPONED_TX_LIMIT:
                    return
                self._postponed += 1
                continue
            self._try(transaction)

    def _try(self, transaction: Transaction) -> None:
        try:
            with (
                self._ledger.store.begin() as attempt,
                bounding_members(self._ledger),
                bounding_time(self._ledger, self._deadline(TRANSACTION_SECONDS)),
            ):
                apply_transaction(self._ledger, transaction, self._skip)
                attempt.squash()
        except RuleViolation as broken:
            self.refused.append(f"{transaction.id.hex()}: {broken.message}")
            return
        self._size += len(transaction.packed)
        self.chosen.append(transaction)


def _extensions(ledger: Ledger, validator: Validator) -> block.HeaderExtensions:
    """What we run, where the chain does not know it yet, and which hardfork we vote for."""
    network, state = ledger.network, ledger.hardforks
    extensions: list[block.RunningVersion | block.HardforkVote] = []
    if validator.running_version != network.version:
        extensions.append(block.RunningVersion(network.version))
    is_emergency = ledger.hardfork(12) and ledger.globals.emergency_consensus_active
    if is_emergency and validator.owner == COMMITTEE_ACCOUNT:
        return tuple(extensions)
    if state.current_hardfork_version < network.hardfork_version:
        coming = network.hardforks[state.last_hardfork + 1]
        if (validator.hardfork_version_vote, validator.hardfork_time_vote) != (coming.version, coming.time):
            extensions.append(block.HardforkVote(HardforkVersionVote(coming.version, coming.time)))
    elif validator.hardfork_version_vote > network.hardfork_version:
        last = network.hardforks[state.last_hardfork]
        extensions.append(block.HardforkVote(HardforkVersionVote(last.version, last.time)))
    return tuple(extensions)
