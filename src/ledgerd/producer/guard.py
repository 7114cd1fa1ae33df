"""The guard of validators: restores a removed signing key, and switches off a validator that is alone in making blocks
(spec 06, section 11). It has no I/O. Three things are better than in the reference: only blocks of the present count as
made alone; a network of one is left out; and the count of switches ends with a block of others, where in the reference
it ends as soon as the key is back.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from ledgerd.chain.interface.view import ChainView
from ledgerd.chain.rules.validators.slots import participation
from ledgerd.producer.decision import HEALTHY_PARTICIPATION
from ledgerd.producer.settings import GuardSettings, Watched
from ledgerd.producer.streaks import LogLine
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey, public_key_text
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName

FRESH_HEAD = 6
"""Seconds; a head that is older means that the node is not in sync."""

STALLED_IRREVERSIBLE = 200
LIFETIME = 30
FIRST_CHECK_EVERY = 10
SHUTDOWN_MARGIN = 120
SLOTS_AHEAD = 3
PRESENT = 30
"""Seconds; only blocks younger than this were made now, and not during a sync."""


class DeclaredValidator(NamedTuple):
    """A watched validator, as declared on the chain."""

    url: str
    key: PublicKey


class GuardFacts(NamedTuple):
    """The chain as the guard sees it."""

    head_number: int
    head_time: int
    irreversible_time: int | None
    """The time of the last irreversible block; None if that block is not kept."""
    is_emergency: bool
    participation: int
    validators: Mapping[AccountName, DeclaredValidator]
    """The watched accounts that are validators."""
    next_producers: tuple[AccountName, ...]
    active_keys: Mapping[AccountName, AbstractSet[PublicKey]]
    """The active keys of the watched accounts that exist."""
    is_network_of_one: bool = False


class AppliedBlock(NamedTuple):
    """A block that was applied."""

    number: int
    time: int
    producer: AccountName
    transactions: AbstractSet[TransactionId]

    @classmethod
    def of(cls, block: Block) -> AppliedBlock:
        ids = frozenset(transaction.id for transaction in block.transactions)
        return cls(block.number, block.timestamp, AccountName(block.validator), ids)


class Update(NamedTuple):
    """An update of a validator's signing key that is to be sent."""

    name: AccountName
    url: str
    key: PublicKey
    expiration: int

    @property
    def is_restoring(self) -> bool:
        return self.key != NULL_KEY


@dataclass
class GuardRecord:
    """The guard's record of a validator."""

    in_a_row: int = 0
    switched_off: int = 0
    """The number of times, since another producer has made a block."""
    is_off: bool = False
    expires: int = 0
    """When the last update expires; 0 if none is pending."""
    restoration: TransactionId | None = None


class Guard:
    """The guard's state, and its decisions."""

    def __init__(self, settings: GuardSettings) -> None:
        self.settings = settings
        self.records: dict[AccountName, GuardRecord] = {}
        self._allows_stale = settings.allows_stale
        self._was_in_sync = False
        self._lines: list[LogLine] = []

    def drain_lines(self) -> list[LogLine]:
        lines, self._lines = self._lines, []
        return lines

    def _log(self, level: int, text: str) -> None:
        self._lines.append(LogLine(level, f"validator_guard: {text}"))

    def begin(self, now: int, facts: GuardFacts) -> list[Update]:
        for name, watched in sorted(self.settings.watched.items()):
            keys = facts.active_keys.get(name)
            if keys is None:
                self._log(logging.ERROR, f"'{name}' is no account of this chain, and is not watched")
                continue
            if watched.active.public not in keys:
                key = public_key_text(watched.active.public)
                self._log(logging.ERROR, f"{key} is no active key of '{name}': nothing can be done with it")
            self.records[name] = GuardRecord()
        if self.records:
            self._log(logging.INFO, f"watching over {' '.join(self.records)}")
        return self._check(now, facts)

    def _check(self, now: int, facts: GuardFacts) -> list[Update]:
        if not self._is_in_sync(now, facts):
            return []
        self._was_in_sync = True
        updates = []
        for name, record in self.records.items():
            if record.expires and now > record.expires:
                record.expires, record.restoration = 0, None
            declared = facts.validators.get(name)
            if declared is None:
                self._log(logging.WARNING, f"'{name}' is no validator of this chain")
            elif declared.key == NULL_KEY:
                updates += self._restored(name, declared, record, now)
            elif not (record.is_off and record.expires):
                record.is_off, record.expires, record.restoration = False, 0, None
        return updates

    def _is_in_sync(self, now: int, facts: GuardFacts) -> bool:
        """Whether what this node sees is what the network does."""
        if self._allows_stale and not facts.is_emergency:
            if facts.participation < HEALTHY_PARTICIPATION:
                return False
            self._allows_stale = False
        if facts.head_time < now - FRESH_HEAD:
            return False
        still = 0 if facts.irreversible_time is None else now - facts.irreversible_time
        if still > STALLED_IRREVERSIBLE:
            self._log(logging.WARNING, f"no block has become irreversible for {still} s: keys are left as they are")
            return False
        return True

    def _restored(self, name: AccountName, declared: DeclaredValidator, record: GuardRecord, now: int) -> list[Update]:
        if record.is_off:
            if 0 < self.settings.disable_max <= record.switched_off:
                return []
            record.is_off, record.in_a_row, record.expires = False, 0, 0
        if record.expires:
            return []
        self._log(logging.WARNING, f"'{name}' has null signing key on-chain, and is given its key back")
        record.expires = now + LIFETIME
        return [Update(name, declared.url, self.settings.watched[name].signing.public, record.expires)]

    def on_block(self, now: int, facts: GuardFacts, block: AppliedBlock) -> list[Update]:
        updates = self._count(now, facts, block) if now - block.time <= PRESENT else []
        for name, record in self.records.items():
            sent = record.restoration
            if sent is not None and sent in block.transactions:
                record.restoration = None
                text = f"CONFIRMED restoration for '{name}' in block #{block.number} [TX: {sent.hex()}]"
                self._log(logging.INFO, text)
        is_due = block.number % (self.settings.interval if self._was_in_sync else FIRST_CHECK_EVERY) == 0
        is_soon = self._was_in_sync and any(name in self.records for name in facts.next_producers)
        return updates + (self._check(now, facts) if is_due or is_soon else [])

    def _count(self, now: int, facts: GuardFacts, block: AppliedBlock) -> list[Update]:
        """Blocks in a row; a network of one has no others that could make them."""
        producer = self.records.get(block.producer)
        for record in self.records.values():
            if record is not producer:
                record.in_a_row = 0
            if producer is None and not record.is_off:
                record.switched_off = 0
        if producer is None or facts.is_network_of_one:
            return []
        producer.in_a_row += 1
        if producer.is_off or not 0 < self.settings.disable <= producer.in_a_row:
            return []
        declared = facts.validators.get(block.producer)
        if declared is None or declared.key == NULL_KEY:
            return []
        producer.is_off, producer.expires = True, now + LIFETIME
        producer.switched_off += 1
        text = f"'{block.producer}' made {producer.in_a_row} blocks in a row, and is switched off"
        if producer.switched_off == self.settings.disable_max:
            text += f" for the last time of {producer.switched_off}: it stays off until it is given a key by hand"
        self._log(logging.WARNING, text)
        return [Update(block.producer, declared.url, NULL_KEY, producer.expires)]

    def was_sent(self, update: Update, transaction: TransactionId) -> None:
        if update.is_restoring:
            self.records[update.name].restoration = transaction

    def was_refused(self, update: Update, reason: str) -> None:
        record = self.records[update.name]
        record.expires = 0
        if not update.is_restoring:
            record.is_off = False
        self._log(logging.ERROR, f"the update of '{update.name}' is refused: {reason}")

    def on_shutdown(self, now: int, facts: GuardFacts) -> list[Update]:
        if not self.settings.disable_on_shutdown:
            return []
        expiration = now + self.settings.shutdown_grace + SHUTDOWN_MARGIN
        declared = ((name, facts.validators.get(name)) for name in self.records)
        return [
            Update(name, each.url, NULL_KEY, expiration)
            for name, each in declared
            if each is not None and each.key != NULL_KEY
        ]


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


def transaction_of(chain: ChainView, update: Update, watched: Watched) -> Transaction:
    operation = ValidatorUpdate(update.name, update.url, update.key)
    draft = unsigned_transaction(chain.head_id, update.expiration, (operation,))
    return draft.signed(chain.network.chain_id, [watched.active])
