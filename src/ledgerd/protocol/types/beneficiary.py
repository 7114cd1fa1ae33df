"""Beneficiaries: accounts that get a part of what content or an award pays (spec 01, sections 2.6, 7.1 and 7.7).

An award may name none, in any order; content that names them names one at least, in the order of their names.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import UInt16
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.names import AccountName, text_order

MAX_BENEFICIARIES = 127


class Beneficiary(msgspec.Struct, frozen=True):
    """An account and its part, in hundredths of a percent."""

    account: AccountName
    weight: UInt16

    MEMORY: ClassVar[int] = 40


def require_beneficiaries(beneficiaries: tuple[Beneficiary, ...]) -> None:
    _require_few(beneficiaries)
    total = 0
    for each in beneficiaries:
        total = _require_part(each, total, "i")


def require_ordered_beneficiaries(beneficiaries: tuple[Beneficiary, ...]) -> None:
    """The further rules for content: at least one, each account once, in ascending order."""
    require(beneficiaries, "beneficiaries.size(): Must specify at least one beneficiary")
    _require_few(beneficiaries)
    total = _require_part(beneficiaries[0], 0, "0")
    for before, each in pairwise(beneficiaries):
        total = _require_part(each, total, "i")
        require(
            text_order(before.account) < text_order(each.account),
            "beneficiaries[i - 1] < beneficiaries[i]: "
            "Benficiaries must be specified in sorted order (account ascending)",
        )


def _require_few(beneficiaries: tuple[Beneficiary, ...]) -> None:
    require(
        len(beneficiaries) <= MAX_BENEFICIARIES,
        "beneficiaries.size() < 128: Cannot specify more than 127 beneficiaries.",
    )


def _require_part(beneficiary: Beneficiary, total: int, index: str) -> int:
    """The running total, this part included; the index is as the message spells it."""
    require_valid_name(beneficiary.account)
    require(
        beneficiary.weight <= HUNDRED_PERCENT,
        f"beneficiaries[{index}].weight <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to one account",
    )
    total += beneficiary.weight
    require(
        total <= HUNDRED_PERCENT,
        "sum <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to a content",
    )
    return total
