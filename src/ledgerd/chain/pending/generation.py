"""Block generation: which transactions it takes, and its header (spec 03, section 22)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at
from ledgerd.protocol.block import (
    Block,
    BlockHeader,
    HardforkVote,
    HeaderExtensions,
    RunningVersion,
    merkle_root,
    sign_block,
)
from ledgerd.protocol.constants import BLOCK_GENERATION_POSTPONED_TX_LIMIT, BLOCK_SIZE, COMMITTEE_ACCOUNT
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.versions import HardforkVersionVote

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger
    from ledgerd.protocol.keys import PrivateKey
    from ledgerd.protocol.names import AccountName
    from ledgerd.protocol.transaction import Transaction
    from ledgerd.state.objects.validators import Validator

log = logging.getLogger(__name__)

EMPTY_BLOCK_SIZE = 115
"""A header without anything, and room for the count of transactions."""


def generate_block(
    ledger: Ledger, pending: Pending, when: int, name: AccountName, key: PrivateKey, skip: SkipFlags = Skip.NOTHING
) -> Block:
    """Make and sign the block of a slot. It still has to be pushed, as any other."""
    slot = slot_at(ledger, when)
    require(slot > 0, "slot_num > 0: ")
    require(scheduled_validator(ledger, slot) == name, "scheduled_validator == validator_owner: ")
    validator = ledger.validator(name)
    if not skip & Skip.VALIDATOR_SIGNATURE:
        require(
            validator.signing_key == key.public,
            "validator_obj.signing_key == block_signing_private_key.get_public_key(): ",
        )
    ledger.account(name)
    transactions = _choose_transactions(ledger, pending, when, skip)
    header = BlockHeader(
        ledger.globals.head_block_id,
        when,
        name,
        merkle_root([transaction.merkle_digest for transaction in transactions]),
        _extensions(ledger, validator),
    )
    block = sign_block(header, transactions, key)
    if not skip & Skip.BLOCK_SIZE:
        require(len(block.packed) <= BLOCK_SIZE, "fc::raw::pack_size(pending_block) <= CHAIN_BLOCK_SIZE: ")
    return block


def _choose_transactions(ledger: Ledger, pending: Pending, when: int, skip: SkipFlags) -> tuple[Transaction, ...]:
    """Waiting transactions in their order, each tried on top of those before it.

    A few that do not fit are passed over; after too many of them the block counts as full.
    """
    chosen: list[Transaction] = []
    refused: list[str] = []
    size, limit, postponed = EMPTY_BLOCK_SIZE, ledger.globals.maximum_block_size, 0
    pending.drop_session()
    ledger.is_reporting = False
    ledger.cursor.time = when
    try:
        with ledger.store.begin():
            for transaction in pending.transactions:
                if transaction.expiration < when:
                    continue
                if size + len(transaction.packed) >= limit:
                    if postponed > BLOCK_GENERATION_POSTPONED_TX_LIMIT:
                        break
                    postponed += 1
                    continue
                try:
                    with ledger.store.begin() as attempt:
                        apply_transaction(ledger, transaction, skip)
                        attempt.squash()
                except RuleViolation as broken:
                    refused.append(f"{transaction.id.hex()}: {broken.message}")
                    continue
                size += len(transaction.packed)
                chosen.append(transaction)
    finally:
        ledger.is_reporting = True
    if refused:
        log.warning("left %d waiting transactions out of a block, the first is %s", len(refused), refused[0])
    return tuple(chosen)


def _extensions(ledger: Ledger, validator: Validator) -> HeaderExtensions:
    """What we run, where the chain does not know it yet, and which hardfork we vote for."""
    network, state = ledger.network, ledger.hardforks
    extensions: list[RunningVersion | HardforkVote] = []
    if validator.running_version != network.version:
        extensions.append(RunningVersion(network.version))
    is_emergency = ledger.hardfork(12) and ledger.globals.emergency_consensus_active
    if is_emergency and validator.owner == COMMITTEE_ACCOUNT:
        return tuple(extensions)
    if state.current_hardfork_version < network.hardfork_version:
        coming = network.hardforks[state.last_hardfork + 1]
        if (validator.hardfork_version_vote, validator.hardfork_time_vote) != (coming.version, coming.time):
            extensions.append(HardforkVote(HardforkVersionVote(coming.version, coming.time)))
    elif validator.hardfork_version_vote > network.hardfork_version:
        last = network.hardforks[state.last_hardfork]
        extensions.append(HardforkVote(HardforkVersionVote(last.version, last.time)))
    return tuple(extensions)
