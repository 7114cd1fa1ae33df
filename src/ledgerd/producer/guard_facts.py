"""What the guard of validators knows of the chain at one moment, read at once; and the transactions it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.rules.validators.slots import participation, scheduled_validator
from ledgerd.producer.guard import GuardFacts, OnChain, Seen, Update
from ledgerd.producer.settings import Watched
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.transaction import unsigned_transaction
from ledgerd.state.objects.accounts import AUTHORITY_BY_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Collection

    from ledgerd.chain.chain import Chain
    from ledgerd.protocol.block import Block
    from ledgerd.protocol.transaction import Transaction

SLOTS_AHEAD = 3


def read_guard_facts(chain: Chain, names: Collection[AccountName]) -> GuardFacts:
    """The facts for a guard of these validators."""
    ledger = chain.ledger
    globals_ = ledger.globals
    validators, active_keys = {}, {}
    for name in names:
        authority = ledger.store.lookup(AUTHORITY_BY_ACCOUNT, name)
        if authority is not None:
            active_keys[name] = frozenset(authority.active.key_auths)
        validator = ledger.find_validator(name)
        if validator is not None:
            validators[name] = OnChain(validator.url, validator.signing_key)
    settled = chain.blocks.at(chain.irreversible) if chain.irreversible else None
    return GuardFacts(
        head_number=globals_.head_block_number,
        head_time=globals_.time,
        irreversible_time=None if settled is None else settled.timestamp,
        is_emergency=globals_.emergency_consensus_active,
        participation=participation(globals_.recent_slots_filled),
        validators=validators,
        next_producers=tuple(scheduled_validator(ledger, slot) for slot in range(1, SLOTS_AHEAD + 1)),
        active_keys=active_keys,
        is_network_of_one=ledger.network.max_validators == 1,
    )


def seen(block: Block) -> Seen:
    """A block as the guard sees it."""
    ids = frozenset(transaction.id for transaction in block.transactions)
    return Seen(block.number, block.timestamp, AccountName(block.validator), ids)


def transaction_of(chain: Chain, update: Update, watched: Watched) -> Transaction:
    """The signed transaction of an update, on the head."""
    operation = ValidatorUpdate(update.name, update.url, update.key)
    draft = unsigned_transaction(chain.head_id, update.expiration, (operation,))
    return draft.signed(chain.network.chain_id, [watched.active])
