"""Small ledgers, made by hand, on which one rule at a time is tried; what else it takes to be a chain is left out.

They are closed at the end of each test, by `conftest`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledgerd.chain.evaluators import FAMILIES
from ledgerd.chain.ledger.block_context import BlockContext, Step
from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.projections.kept import KeptProjections
from ledgerd.projections.projection import Projection
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, BUILT_IN_ACCOUNTS, COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, ChainParameters
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.properties import default_properties
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, MerkleRoot, TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Entity, Space, Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    AUTHORITY_BY_ACCOUNT,
    METADATA_BY_ACCOUNT,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from ledgerd.state.objects.globals import (
    DYNAMIC_GLOBAL_PROPERTIES,
    HARDFORK_PROPERTIES,
    DynamicGlobalProperty,
    HardforkProperty,
)
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES, VALIDATORS, Validator, ValidatorSchedule
from tests.chain.whole_state import first_change, whole_state

SMALL = Space(initial=1 << 24, min_free=0, increment=1 << 24)

NOW = 1_800_000_000
"""The time of the head block."""

HEAD = 1_000
"""Its number."""

ALICE, BOB, CAROL = AccountName("alice"), AccountName("bob"), AccountName("carol")

assert FAMILIES, "the rules are registered by importing them"

_open: list[Ledger] = []
_begun: dict[str, bytes] = {}
_kept: dict[Path, KeptProjections] = {}


def fresh_ledger(folder: Path, hardfork: int = 13, network: ChainParameters = MAINNET) -> Ledger:
    """The built-in accounts, of which `committee` is a validator, and nothing else: a copy of what was made first."""
    kind, state = f"{hardfork} {network}", folder / "state"
    if kind not in _begun:
        with Store.open(state, STORED_TABLES, space=SMALL) as store:
            _begin(Ledger(store, network), hardfork)
            store.commit()
        _begun[kind] = (state / "data.mdb").read_bytes()
    elif not state.exists():
        state.mkdir(parents=True)
        (state / "data.mdb").write_bytes(_begun[kind])
    ledger = Ledger(Store.open(state, STORED_TABLES, space=SMALL), network)
    _open.append(ledger)
    return ledger


def _begin(ledger: Ledger, hardfork: int) -> None:
    store, properties = ledger.store, default_properties(ledger.network)
    store.create(
        DYNAMIC_GLOBAL_PROPERTIES,
        DynamicGlobalProperty(
            head_block_number=HEAD, time=NOW, current_validator=COMMITTEE_ACCOUNT, recent_slots_filled=2**128 - 1
        ),
    )
    store.create(HARDFORK_PROPERTIES, HardforkProperty(processed_hardforks=(0,) * (hardfork + 1)))
    store.create(
        VALIDATOR_SCHEDULES,
        ValidatorSchedule(current_shuffled_validators=(COMMITTEE_ACCOUNT,), median_props=properties),
    )
    for name in BUILT_IN_ACCOUNTS:
        create_account(ledger, name)
    change(ledger, store.at(METADATA_BY_ACCOUNT, ANONYMOUS_ACCOUNT), json_metadata="0")
    create_validator(ledger, COMMITTEE_ACCOUNT)


def close_all() -> None:
    while _open:
        _open.pop().store.close()
    while _kept:
        _kept.popitem()[1].close()


def kept_beside(ledger: Ledger) -> Store:
    """The store of its projections."""
    folder = ledger.store.folder
    if folder not in _kept:
        _kept[folder] = KeptProjections(folder, SMALL)
    return _kept[folder].store


def project(ledger: Ledger, projection: Projection) -> None:
    """Have a projection take in what the ledger has just done, as that of the head block."""
    parent = BlockId((ledger.head_number - 1).to_bytes(4, "big") + bytes(16))
    block = empty_block(ledger, parent)
    event = BlockApplied(block, tuple(ledger.operations), 0, 0, 0, samples=tuple(ledger.samples))
    projection.apply(event, event.samples, kept_beside(ledger))


def empty_block(ledger: Ledger, previous: BlockId = NO_BLOCK) -> Block:
    return Block(
        previous=previous,
        timestamp=ledger.now,
        validator=COMMITTEE_ACCOUNT,
        transaction_merkle_root=MerkleRoot(bytes(20)),
        extensions=(),
        validator_signature=Signature(bytes(65)),
        transactions=(),
    )


@cache
def key_of(name: str) -> PublicKey:
    """The one key of an account, until a test says otherwise."""
    return PrivateKey(sha256(name.encode())).public


def create_account(ledger: Ledger, name: str, balance: int = 0, shares: int = 0, **fields: Any) -> Account:
    """An account with its authority and metadata; tokens and shares join the supply, a thousand shares a token."""
    account = Account(name=AccountName(name), balance=balance, vesting_shares=shares)
    for field, value in fields.items():
        setattr(account, field, value)
    ledger.store.create(ACCOUNTS, account)
    authority = authority_of(key_of(name))
    ledger.store.create(
        ACCOUNT_AUTHORITIES,
        AccountAuthority(account=account.name, master=authority, active=authority, regular=authority),
    )
    ledger.store.create(ACCOUNT_METADATA, AccountMetadata(account=account.name))
    fund, globals_ = shares // 1000, ledger.globals
    change(
        ledger,
        globals_,
        current_supply=globals_.current_supply + balance + fund,
        total_vesting_fund=globals_.total_vesting_fund + fund,
        total_vesting_shares=globals_.total_vesting_shares + shares,
    )
    return account


def create_validator(ledger: Ledger, name: str, **fields: Any) -> Validator:
    """A validator that signs with its account's key."""
    validator = Validator(owner=AccountName(name), signing_key=key_of(name), props=default_properties(ledger.network))
    for field, value in fields.items():
        setattr(validator, field, value)
    return ledger.store.create(VALIDATORS, validator)


def change(ledger: Ledger, entity: Entity, **fields: Any) -> None:
    """Set fields of an object of the state."""
    with ledger.editing(entity):
        for field, value in fields.items():
            setattr(entity, field, value)


def set_median(ledger: Ledger, **properties: Any) -> None:
    """Set properties that the validators agree on."""
    schedule = ledger.schedule
    change(ledger, schedule, median_props=msgspec.structs.replace(schedule.median_props, **properties))


def pass_time(ledger: Ledger, seconds: int) -> None:
    change(ledger, ledger.globals, time=ledger.now + seconds)


def authority_for(ledger: Ledger, name: str) -> AccountAuthority:
    return ledger.store.at(AUTHORITY_BY_ACCOUNT, name)


def metadata_of(ledger: Ledger, name: str) -> str | None:
    metadata = ledger.store.lookup(METADATA_BY_ACCOUNT, name)
    return None if metadata is None else metadata.json_metadata


def carry_out(ledger: Ledger, operation: Operation) -> list[Operation]:
    """Apply an operation, and give the virtual ones that it caused."""
    ledger.operations.clear()
    ledger.samples.clear()
    ledger.cursor.begin_transaction(TransactionId(bytes(20)))
    with ledger.store.begin() as session:
        apply_operation(ledger, operation)
        session.squash()
    assert [each.operation for each in ledger.operations[:1]] == [operation]
    return [each.operation for each in ledger.operations[1:]]


def refuses(ledger: Ledger, operation: Operation, message: str) -> RuleViolation:
    """The first rule that the operation breaks says exactly this.

    Nothing at all is left of it: no object, no id, no place in an order.
    """
    before = whole_state(ledger.store)
    with ledger.store.begin(), pytest.raises(RuleViolation) as refusal:
        apply_operation(ledger, operation)
    assert refusal.value.message == message
    changed = first_change(before, whole_state(ledger.store))
    assert changed is None, changed
    return refusal.value


def run(ledger: Ledger, step: Step) -> list[Operation]:
    """Run a step of a block that is at the head already, and give the virtual operations that it caused."""
    ledger.operations.clear()
    ledger.cursor.end_transactions()
    with ledger.store.begin() as session:
        step(ledger, BlockContext(empty_block(ledger), Skip.NOTHING))
        session.squash()
    return [each.operation for each in ledger.operations]
