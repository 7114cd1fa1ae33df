"""Checks that operations of prediction markets share: tokens, texts, ids and outcomes (spec 07, 3)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.texts import byte_length, is_utf8


def require_token(amount: Asset, field: str) -> None:
    require(amount.is_token, f"pm_is_token({field}): {field} must be VIZ (TOKEN_SYMBOL)")


def require_positive_token(amount: Asset, field: str, title: str) -> None:
    """An amount of VIZ above zero; the two names of the field differ in what is said of the amount."""
    require_token(amount, field)
    require(amount.amount > 0, f"{field}.amount > 0: {title} must be positive")


def require_fixed_fee(fee: Asset, field: str) -> None:
    require_token(fee, field)
    require(fee.amount >= 0, f"{field}.amount >= 0: {field} cannot be negative")


def require_share(percent: int, field: str, title: str) -> None:
    require(percent <= HUNDRED_PERCENT, f"{field} <= 10000: {title} out of range (bp, max 10000)")


def require_text(text: str, field: str, most: int) -> None:
    """A text of so many bytes at most, in UTF-8; it may be empty."""
    require(byte_length(text) <= most, "s.size() <= cap: ${f} exceeds byte cap ${c}", f=field, c=most)
    require(is_utf8(text), "fc::is_utf8(s): ${f} not formatted in UTF8", f=field)


def require_object_id(number: int, field: str) -> None:
    require(number >= 0, f"{field} >= 0: {field} must be non-negative")


def require_one_outcome(side: int, outcome_index: int) -> None:
    """The outcome is named in one of two ways: as a side of a binary market, or by its place in the list."""
    require(-1 <= side <= 1, "side >= -1 && side <= 1: side must be -1, 0 or 1")
    require(outcome_index >= -1, "outcome_index >= -1: outcome_index must be >= -1")
    require(
        (side >= 0) != (outcome_index >= 0),
        "(side >= 0) != (outcome_index >= 0): set exactly one of side / outcome_index",
    )
