"""The hardforks of this chain: which have come, and which is next (spec 02, section 3.13)."""

from __future__ import annotations

from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.times import Time
from ledgerd.protocol.versions import HardforkVersion
from ledgerd.state.tables import Entity, Table


class HardforkProperty(Entity):
    """There is one."""

    processed_hardforks: tuple[Time, ...] = ()
    last_hardfork: UInt32 = 0
    current_hardfork_version: HardforkVersion = 0
    next_hardfork: HardforkVersion = 0
    next_hardfork_time: Time = 0

    def has(self, number: int) -> bool:
        return len(self.processed_hardforks) > number


HARDFORK_PROPERTIES = Table(HardforkProperty, number=11)
