"""The properties that validators vote on, with their units (spec 01, section 8; spec 07, section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from ledgerd.explorer.words import numbers
from ledgerd.explorer.words.language import Language
from ledgerd.explorer.words.times import STEPS

IN_HUNDREDTHS = frozenset(
    (
        "data_operations_cost_additional_bandwidth",
        "flag_energy_additional_cost",
        "inflation_ratio_committee_vs_reward_fund",
        "pm_dispute_reward_multiplier",
        "pm_leverage_max_per_position_bp",
    )
)
"""Hundredths of a percent, besides those whose name ends so."""
IN_MILLIONTHS = frozenset(("pm_leverage_funding_rate_ppm_per_day", "pm_max_time_penalty"))
IN_SECONDS = frozenset(("create_account_delegation_time", "pm_max_market_duration", "validator_miss_penalty_duration"))
"""Seconds, besides those whose name ends so."""
WHOLE_PERCENT = ("pm_leverage_", "pm_conversion_", "pm_listing_min_coverage_", "pm_betting_min_coverage_")
"""The beginnings of the names of properties that are whole percents."""


class PropertyRow(NamedTuple):
    """A property that a validator votes on."""

    name: str
    title: str
    value: Markup
    median: Markup | None
    """The value in force, if it is another one."""


def property_rows(language: Language, voted: Mapping[str, Any], median: Mapping[str, Any]) -> list[PropertyRow]:
    return [
        PropertyRow(
            name,
            language.properties.get(name, name),
            property_value(language, name, value),
            property_value(language, name, median[name]) if median.get(name, value) != value else None,
        )
        for name, value in voted.items()
    ]


def property_value(language: Language, name: str, value: Any) -> Markup:  # noqa: ANN401 - JSON
    if isinstance(value, bool):
        return escape(language.text("yes" if value else "no"))
    if not isinstance(value, int):
        return numbers.amount(str(value))
    if name in IN_MILLIONTHS:
        return escape(
            numbers.percent(value // 100) if value % 100 == 0 else f"{numbers.grouped(value)}{numbers.THIN}ppm"
        )
    if name in IN_HUNDREDTHS or name.endswith("_percent"):
        return escape(
            numbers.percent(value * 100 if name.startswith(WHOLE_PERCENT) and name not in IN_HUNDREDTHS else value)
        )
    if name in IN_SECONDS or name.endswith("_sec"):
        return escape(span_of(language, value))
    return escape(numbers.grouped(value))


def span_of(language: Language, seconds: int) -> str:
    """A span of time, exactly, in the largest unit of which it is a multiple; years are too coarse."""
    size, name = next((size, name) for size, name in STEPS[1:] if seconds % size == 0 and (seconds or size == 1))
    return language.counted(f"span.{name}", seconds // size, numbers.grouped(seconds // size))
