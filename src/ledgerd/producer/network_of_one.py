"""A network with one validator in a round, after a long stop.

A block more than 1,200 s after the last begins an emergency, which removes every signing key but the committee's, whose
secret nobody has: a network of one would never make a block again. So its producer first fills the time that it was
stopped with a block in every 1,197 seconds of it. Each is valid by the rules, at a time that has passed.
"""

from __future__ import annotations

from ledgerd.producer.facts import Facts
from ledgerd.protocol.constants import BLOCK_INTERVAL, EMERGENCY_CONSENSUS_TIMEOUT_SEC

BRIDGED_SLOTS = EMERGENCY_CONSENSUS_TIMEOUT_SEC // BLOCK_INTERVAL - 1
"""The last slot in which a block does not begin an emergency."""


def is_bridge_needed(facts: Facts, second: int) -> bool:
    """Whether the next block in time would begin an emergency, in a network that it would end."""
    return (
        facts.is_network_of_one
        and facts.is_hardfork12
        and not facts.is_emergency
        and facts.head_number > 0
        and facts.slot_at(second) > BRIDGED_SLOTS
    )
