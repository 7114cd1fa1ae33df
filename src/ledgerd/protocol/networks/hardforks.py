"""The hardforks: their numbers, versions and earliest times (spec 03, sections 2 and 21; spec 07, section 1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import HardforkVersion, version_number


class Hardfork(msgspec.Struct, frozen=True):
    """A change of the rules that enough validators must vote for, and that may not happen before its time."""

    number: int
    version: HardforkVersion
    time: Time


MAINNET_HARDFORKS: tuple[Hardfork, ...] = (
    Hardfork(0, version_number(1, 0), 0),  # the rules of the start; on the chain, its time is that of genesis
    Hardfork(1, version_number(1, 1), 1_538_647_200),  # 2018-10-04T10:00:00
    Hardfork(2, version_number(1, 2), 1_538_906_400),  # 2018-10-07T10:00:00
    Hardfork(3, version_number(1, 3), 1_540_497_600),  # 2018-10-25T20:00:00
    Hardfork(4, version_number(2, 0), 1_547_460_000),  # 2019-01-14T10:00:00
    Hardfork(5, version_number(2, 1), 1_550_656_800),  # 2019-02-20T10:00:00
    Hardfork(6, version_number(2, 2), 1_555_236_000),  # 2019-04-14T10:00:00
    Hardfork(7, version_number(2, 3), 1_556_359_200),  # 2019-04-27T10:00:00
    Hardfork(8, version_number(2, 4), 1_556_600_400),  # 2019-04-30T05:00:00
    Hardfork(9, version_number(2, 5), 1_589_173_200),  # 2020-05-11T05:00:00
    Hardfork(10, version_number(2, 6), 1_638_162_000),  # 2021-11-29T05:00:00
    Hardfork(11, version_number(3, 0), 1_691_643_600),  # 2023-08-10T05:00:00
    Hardfork(12, version_number(3, 1), 1_776_620_500),  # 2026-04-19T17:41:40
    Hardfork(13, version_number(3, 2), 1_778_961_600),  # 2026-05-16T20:00:00
    Hardfork(14, version_number(4, 0), 1_787_875_200),  # 2026-08-28T00:00:00
    Hardfork(15, version_number(4, 1), 1_791_158_400),  # 2026-10-05T00:00:00
)


def known_until(hardforks: tuple[Hardfork, ...], last: int) -> tuple[Hardfork, ...]:
    return tuple(each for each in hardforks if each.number <= last)


def rescheduled(hardforks: tuple[Hardfork, ...], times: Mapping[int, int]) -> tuple[Hardfork, ...]:
    return tuple(Hardfork(each.number, each.version, times.get(each.number, each.time)) for each in hardforks)


TESTNET_HARDFORKS = rescheduled(
    MAINNET_HARDFORKS,
    {
        14: 1_780_000_000,  # 2026-05-28T20:26:40
        15: 1_790_498_000,  # 2026-09-27T08:33:20
    },
)
"""The testnet has the mainnet's times, but for the last two."""
