"""Whether to make a block now: a pure function whose branches are the reference's, in its order (spec 06, section
10.5). Left out are confirmations that are signed on every tick and that nothing depends on (section 10.7).
"""

from __future__ import annotations

from dataclasses import dataclass

from ledgerd.producer.facts import Facts, Rival
from ledgerd.producer.outcome import Decision, Duty, TickOutcome
from ledgerd.producer.settings import ProducerSettings
from ledgerd.producer.time.clock import SECOND, TICK
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_text
from ledgerd.protocol.types.time_text import time_text

HEALTHY_PARTICIPATION = 3300

OWN_FORK = "we are on our own fork; production waits for the blocks of others"


@dataclass
class Guards:
    """The state that is kept from one tick to the next."""

    allows_stale: bool
    """Cleared for good once the network has proved healthy: from then on the guards hold."""
    deferred: int = 0
    """Ticks in a row on which production was deferred to a competing block."""


def decide(now: int, facts: Facts, settings: ProducerSettings, guards: Guards) -> Decision:
    moment = (now + TICK) // SECOND
    return (
        _too_few_take_part(facts, settings, guards)
        or _on_a_fork_of_our_own(facts, settings, guards)
        or _in_our_slot(moment, facts, settings, guards)
    )


def _too_few_take_part(facts: Facts, settings: ProducerSettings, guards: Guards) -> Decision | None:
    """Step 4. A network of one may produce on a stale chain, or it would stop for ever (spec 06, section 16.3)."""
    if not facts.is_hardfork12 or facts.is_emergency or facts.is_network_of_one:
        return None
    if facts.participation >= HEALTHY_PARTICIPATION:
        guards.allows_stale = False
        return None
    return _participation_guard(facts, settings, guards)


def _participation_guard(facts: Facts, settings: ProducerSettings, guards: Guards) -> Decision | None:
    if facts.participation >= settings.required_participation or guards.allows_stale:
        return None
    return Decision(
        TickOutcome.LOW_PARTICIPATION,
        "Not producing block because node appears to be on a minority fork with only "
        f"{facts.participation // 100}% validator participation",
    )


def _on_a_fork_of_our_own(facts: Facts, settings: ProducerSettings, guards: Guards) -> Decision | None:
    """Step 6: all blocks of a whole round are our own. In a network of one node that is normal. After an emergency its
    blocks, which the committee has made alone, prove nothing: the reference counts them, and whoever made them then
    waits for the blocks of others, although the next slots may all be its own.
    """
    if facts.is_network_of_one:
        return None
    ours = set(settings.names)
    if not facts.is_emergency:
        is_watched = not guards.allows_stale
        ours -= {COMMITTEE_ACCOUNT} if facts.is_hardfork12 else set()
    else:
        is_master = settings.is_emergency_master and COMMITTEE_ACCOUNT in facts.scheduled
        is_watched = facts.is_rolling and not is_master
    count = sum(1 for name in facts.recent_producers if name in ours)
    if not is_watched or count < facts.max_validators:
        return None
    return Decision(
        TickOutcome.MINORITY_FORK,
        f"MINORITY FORK DETECTED: all of the last {count} blocks, up to #{facts.head_number}, are of our validators; "
        f"{OWN_FORK}",
        asks_for_resync=True,
    )


def _in_our_slot(moment: int, facts: Facts, settings: ProducerSettings, guards: Guards) -> Decision:
    """Steps 7 to 15."""
    slot = facts.slot_at(moment)
    if slot == 0:
        return Decision(TickOutcome.NOT_TIME_YET)
    name, time = facts.scheduled_at(slot), facts.slot_time(slot)
    if name not in settings.names:
        return Decision(TickOutcome.NOT_MY_TURN)
    if time <= facts.head_time:
        return Decision(TickOutcome.NOT_TIME_YET)
    duty = Duty(time, name)
    return (
        _without_key(facts, settings, duty)
        or (None if facts.is_hardfork12 else _participation_guard(facts, settings, guards))
        or _too_late(moment, duty)
        or _collision(facts, settings, guards, duty)
        or _granted(facts, settings, guards, duty)
    )


def _without_key(facts: Facts, settings: ProducerSettings, duty: Duty) -> Decision | None:
    key = facts.keys.get(duty.name, NULL_KEY)
    if key == NULL_KEY:
        return Decision(TickOutcome.NOT_MY_TURN, f"validator {duty.name} has no signing key on the chain", duty)
    if not settings.is_signed_elsewhere and key not in settings.keys:
        return Decision(
            TickOutcome.NO_PRIVATE_KEY,
            f"Not producing block for {duty.name} because I don't have the private key for {public_key_text(key)}",
            duty,
        )
    return None


def _too_late(moment: int, duty: Duty) -> Decision | None:
    """Step 13: a slot's block is made from a quarter of a second before it to three quarters after its beginning."""
    if moment == duty.time:
        return None
    return Decision(
        TickOutcome.LAG,
        "Not producing block because node didn't wake up within 500ms of the slot time. "
        f"(slot {time_text(duty.time)} of {duty.name}, {moment - duty.time} s ago)",
        duty,
    )


def _competing(facts: Facts, name: str) -> Rival | None:
    """A block that competes for the slot: in an emergency any block in it, else one of another validator on another
    parent.
    """
    for rival in facts.rivals:
        if facts.is_emergency or (rival.validator != name and rival.previous != facts.head_id):
            return rival
    return None


def _collision(facts: Facts, settings: ProducerSettings, guards: Guards, duty: Duty) -> Decision | None:
    """Defer to a competing block, unless ours is on the heavier branch (spec 06, section 10.8)."""
    rival = _competing(facts, duty.name)
    if rival is None:
        return None
    if guards.deferred + 1 > settings.collision_timeout or (facts.is_hardfork12 and rival.order < 0):
        return None
    guards.deferred += 1
    return Decision(
        TickOutcome.FORK_COLLISION,
        f"block #{facts.head_number + 1} {rival.id.hex()} of {rival.validator} competes with ours: giving way "
        f"({guards.deferred} of {settings.collision_timeout})",
        duty,
    )


def _granted(facts: Facts, settings: ProducerSettings, guards: Guards, duty: Duty) -> Decision:
    rival = _competing(facts, duty.name)
    if rival is None:
        return Decision(TickOutcome.PRODUCED, duty=duty)
    has_waited = guards.deferred + 1 > settings.collision_timeout
    guards.deferred = 0
    discarded = tuple(each.id for each in facts.rivals) if has_waited else (rival.id,)
    return Decision(TickOutcome.PRODUCED, duty=duty, discarded=discarded)
