"""The penalty for a late bet, growing towards the end of betting (spec 09, section 7.11; spec 08, section 3.4)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.pricing.widths import int64, mul_div, quotient128, uint128


class PenaltyTerms(NamedTuple):
    """What a market says of its penalty; times in seconds."""

    created: int
    betting_expiration: int
    """0: betting never ends, and nothing is late."""
    kind: int
    """0: the window is `value` seconds; else `value` hundredths of the time for betting."""
    value: int
    curve: int
    """1: quadratic; else linear."""


def time_penalty(terms: PenaltyTerms, risk_time: int, most: int) -> int:
    """The penalty in millionths of the profit, up to `most`, for a bet whose risk began at `risk_time`."""
    if terms.value == 0 or terms.betting_expiration == 0:
        return 0
    window = _window(terms)
    if window <= 0:
        return 0
    left = max(0, terms.betting_expiration - risk_time)
    if left >= window:
        return 0
    late, whole = window - left, window
    if terms.curve == 1:
        late, whole = uint128(late * late), uint128(whole * whole)
    return max(0, min(most, quotient128(most * late, whole)))


def _window(terms: PenaltyTerms) -> int:
    if terms.kind == 0:
        return int64(terms.value)
    duration = terms.betting_expiration - terms.created
    return mul_div(terms.value, duration, 100) if duration > 0 else 0
