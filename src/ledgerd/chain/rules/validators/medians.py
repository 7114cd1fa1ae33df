"""The chain properties in force: of what each scheduled validator wants, the median (spec 03, 18; spec 07, 9)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import is_emergency
from ledgerd.protocol import properties
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT

OF_HARDFORK_1 = "max_curation_percent"
"""Stood in the properties from the start, and was not voted on at first."""


def _new_in(
    newer: type[properties.ChainPropertiesInit], older: type[properties.ChainPropertiesInit]
) -> tuple[str, ...]:
    return tuple(name for name in newer.__struct_fields__ if name not in older.__struct_fields__)


VOTED_SINCE: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, tuple(name for name in properties.ChainPropertiesInit.__struct_fields__ if name != OF_HARDFORK_1)),
    (1, (OF_HARDFORK_1,)),
    (4, _new_in(properties.ChainPropertiesHf4, properties.ChainPropertiesInit)),
    (6, _new_in(properties.ChainPropertiesHf6, properties.ChainPropertiesHf4)),
    (9, _new_in(properties.ChainPropertiesHf9, properties.ChainPropertiesHf6)),
    (13, _new_in(properties.ChainPropertiesHf13, properties.ChainPropertiesHf9)),
    (14, _new_in(properties.ChainPropertiesHf14, properties.ChainPropertiesHf13)),
)
"""Which hardfork put which properties to the vote."""


def update_medians(ledger: Ledger) -> None:
    """Put the medians in force. Properties that are not voted on yet are what they were at genesis: the defaults.

    In an emergency the committee has no say; where it is alone, everything stays as it is.
    """
    scheduled = ledger.schedule.scheduled
    if is_emergency(ledger):
        scheduled = tuple(name for name in scheduled if name != COMMITTEE_ACCOUNT)
    wanted = tuple([each.props for each in ledger.validators(scheduled)])
    if not wanted:
        return
    voted = len(ledger.hardforks.processed_hardforks) - 1
    schedule, globals_ = ledger.schedule, ledger.globals
    props = with_medians(schedule.median_props, wanted, voted)
    if props != schedule.median_props or props.maximum_block_size != globals_.maximum_block_size:
        with ledger.editing(schedule, globals_):
            schedule.median_props = props
            globals_.maximum_block_size = props.maximum_block_size


@lru_cache(maxsize=8)
def with_medians(
    before: properties.ChainPropertiesHf14, wanted: tuple[properties.ChainPropertiesHf14, ...], hardfork: int
) -> properties.ChainPropertiesHf14:
    """Validators seldom change their minds, so what came out is remembered; unchanged, it is the very same object."""
    middle = len(wanted) // 2
    medians: dict[str, Any] = {
        name: sorted(getattr(props, name) for props in wanted)[middle]
        for since, names in VOTED_SINCE
        if hardfork >= since
        for name in names
    }
    after = msgspec.structs.replace(before, **medians)
    return before if after == before else after
