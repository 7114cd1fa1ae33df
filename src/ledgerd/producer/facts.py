"""What a producer knows of the chain, read at one moment, so that the decision is a pure function of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ledgerd.chain.interface.view import ChainView
from ledgerd.chain.rules.validators.slots import SLOTS_REMEMBERED, participation
from ledgerd.producer.outcome import Duty
from ledgerd.protocol.constants import BLOCK_INTERVAL, EMERGENCY_CONSENSUS_TIMEOUT_SEC
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

BRIDGED_SLOTS = EMERGENCY_CONSENSUS_TIMEOUT_SEC // BLOCK_INTERVAL - 1
"""The last slot in which a block does not begin an emergency."""
SLOTS_AHEAD = 5


class Rival(NamedTuple):
    """A known block in the slot of ours."""

    id: BlockId
    previous: BlockId
    validator: AccountName
    order: int
    """Which branch has more votes behind it: above zero the rival's, below zero ours."""


class Facts(NamedTuple):
    """The chain as the producer sees it."""

    head_number: int
    head_id: BlockId
    head_time: int
    first_slot: int
    aslot: int
    scheduled: tuple[AccountName, ...]
    keys: Mapping[AccountName, PublicKey]
    """The signing keys of our own validators on the chain; one that is no validator has none."""
    is_hardfork12: bool
    is_emergency: bool
    participation: int
    max_validators: int
    recent_producers: tuple[AccountName, ...]
    """Who made the latest blocks up to the head of the fork database, the newest first; at most one for each validator.
    """
    rivals: tuple[Rival, ...] = ()
    is_rolling: bool = False

    def slot_at(self, time: int) -> int:
        """The slot that a second falls in; 0 before the first."""
        return 0 if time < self.first_slot else (time - self.first_slot) // BLOCK_INTERVAL + 1

    def needs_bridge(self, second: int) -> bool:
        """Whether the next block of a network of one would begin an emergency, after a long stop. That would remove
        every signing key but the committee's, whose secret nobody has: it would never make a block again. So its
        producer first makes the block of every 1,197 seconds that it was stopped; each is valid.
        """
        is_alone = self.is_network_of_one and self.is_hardfork12 and not self.is_emergency
        return is_alone and self.head_number > 0 and self.slot_at(second) > BRIDGED_SLOTS

    def slot_time(self, slot: int) -> int:
        return self.first_slot + (slot - 1) * BLOCK_INTERVAL

    def scheduled_at(self, slot: int) -> AccountName:
        return self.scheduled[(self.aslot + slot) % len(self.scheduled)]

    @property
    def is_network_of_one(self) -> bool:
        return self.max_validators == 1


def read_facts(chain: ChainView, names: tuple[AccountName, ...]) -> Facts:
    globals_ = chain.globals
    keys = {}
    for name in names:
        validator = chain.settled_validator(name)
        if validator is not None:
            keys[name] = validator.signing_key
    return Facts(
        head_number=globals_.head_block_number,
        head_id=globals_.head_block_id,
        head_time=globals_.time,
        first_slot=chain.slot_time(1),
        aslot=globals_.current_aslot,
        scheduled=chain.scheduled,
        keys=keys,
        is_hardfork12=chain.hardfork(12),
        is_emergency=globals_.emergency_consensus_active,
        participation=participation(globals_.recent_slots_filled, _slots_that_count(chain)),
        max_validators=chain.network.max_validators,
        recent_producers=chain.recent_producers(chain.network.max_validators),
        rivals=_rivals(chain),
        is_rolling=chain.is_rolling,
    )


def _slots_that_count(chain: ChainView) -> int:
    """The slots that participation is measured by: after an emergency, those after the block that began it. The
    reference counts the silence before it as well. When the validators come back within a hundred slots, and each of
    them wants a third to take part, all of them stop again at the end of the emergency, and none ever makes the block
    that another emergency would begin with.
    """
    globals_ = chain.globals
    began = globals_.emergency_consensus_start_block
    is_recent = began and globals_.head_block_number - began < SLOTS_REMEMBERED
    first = chain.block_at(began) if is_recent else None
    if first is None:
        return SLOTS_REMEMBERED
    # A block is remembered before the slots that were missed before it, so the silence is behind its first block.
    return max(1, min(SLOTS_REMEMBERED, (globals_.time - first.timestamp) // BLOCK_INTERVAL))


def _rivals(chain: ChainView) -> tuple[Rival, ...]:
    """Blocks without a valid signature do not count: anybody can send one, and must not stop production with it."""
    head = chain.head_id
    return tuple(
        Rival(block.id, block.previous, AccountName(block.validator), chain.branch_order(block.id, head))
        for block in chain.candidates_at(chain.head_number + 1)
        if chain.is_signed(block)
    )


def quiet_slots(facts: Facts) -> int:
    """The slots from the next one on that are known to be of others. Rounds end with blocks whose number the places of
    a full schedule divide (spec 03, section 17).
    """
    known = facts.max_validators - facts.head_number % facts.max_validators
    ours = (slot for slot in range(known) if facts.scheduled_at(slot + 1) in facts.keys)
    return next(ours, known)


def next_own_slot(facts: Facts, now: int, held: frozenset[PublicKey] | None) -> Duty | None:
    """The earliest of the next slots that we can fill; every key counts where a signer has them (spec 06, 10.10)."""
    first = max(1, facts.slot_at(now))
    for slot in range(first, first + SLOTS_AHEAD):
        name = facts.scheduled_at(slot)
        key = facts.keys.get(name, NULL_KEY)
        if key != NULL_KEY and (held is None or key in held):
            return Duty(facts.slot_time(slot), name)
    return None
