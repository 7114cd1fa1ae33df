"""What the guard of validators knows of the chain at one moment, read at once; and the transactions it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.rules.validators.slots import participation
from ledgerd.producer.guard import DeclaredValidator, GuardFacts, Seen, Update
from ledgerd.producer.settings import Watched
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.transaction import unsigned_transaction

if TYPE_CHECKING:
    from collections.abc import Collection

    from ledgerd.chain.interface.view import ChainView
    from ledgerd.protocol.block import Block
    from ledgerd.protocol.transaction import Transaction

SLOTS_AHEAD = 3


def read_guard_facts(chain: ChainView, names: Collection[AccountName]) -> GuardFacts:
    globals_ = chain.globals
    validators, active_keys = {}, {}
    for name in names:
        keys = chain.active_keys(name)
        if keys is not None:
            active_keys[name] = keys
        validator = chain.validator(name)
        if validator is not None:
            validators[name] = DeclaredValidator(validator.url, validator.signing_key)
    irreversible_block = chain.block_at(chain.irreversible) if chain.irreversible else None
    return GuardFacts(
        head_number=globals_.head_block_number,
        head_time=globals_.time,
        irreversible_time=None if irreversible_block is None else irreversible_block.timestamp,
        is_emergency=globals_.emergency_consensus_active,
        participation=participation(globals_.recent_slots_filled),
        validators=validators,
        next_producers=tuple(chain.scheduled_at(slot) for slot in range(1, SLOTS_AHEAD + 1)),
        active_keys=active_keys,
        is_network_of_one=chain.network.max_validators == 1,
    )


def seen(block: Block) -> Seen:
    ids = frozenset(transaction.id for transaction in block.transactions)
    return Seen(block.number, block.timestamp, AccountName(block.validator), ids)


def transaction_of(chain: ChainView, update: Update, watched: Watched) -> Transaction:
    operation = ValidatorUpdate(update.name, update.url, update.key)
    draft = unsigned_transaction(chain.head_id, update.expiration, (operation,))
    return draft.signed(chain.network.chain_id, [watched.active])
