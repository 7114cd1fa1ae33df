"""Every property that validators vote on has words in every language, and its value in the unit that people read."""

from __future__ import annotations

import pytest

from ledgerd.codec import record_kind
from ledgerd.explorer.words.language import CODES, language
from ledgerd.explorer.words.properties import (
    IN_HUNDREDTHS,
    IN_MILLIONTHS,
    IN_SECONDS,
    WHOLE_PERCENT,
    property_rows,
    property_value,
)
from ledgerd.protocol.properties import ChainPropertiesHf14

NAMES = [each.name for each in record_kind(ChainPropertiesHf14).fields]


def shown(name: str, value: object, code: str = "en") -> str:
    text = property_value(language(code), name, value).striptags()
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("code", CODES)
def test_no_property_lacks_words_and_no_words_are_of_another(code: str) -> None:
    words = language(code).properties
    assert sorted(words) == sorted(NAMES)
    assert len(set(words.values())) == len(NAMES)
    assert set(NAMES) >= IN_HUNDREDTHS | IN_MILLIONTHS | IN_SECONDS
    assert all(any(name.startswith(each) for name in NAMES) for each in WHOLE_PERCENT)


@pytest.mark.parametrize(
    ("name", "value", "english", "russian"),
    [
        ("account_creation_fee", "1.000 VIZ", "1.000 VIZ", "1.000 VIZ"),
        ("maximum_block_size", 131_072, "131 072", "131 072"),
        ("inflation_validator_percent", 2_050, "20.5 %", "20.5 %"),
        ("inflation_ratio_committee_vs_reward_fund", 5_000, "50 %", "50 %"),
        ("validator_miss_penalty_duration", 86_400, "1 day", "1 день"),
        ("create_account_delegation_time", 2_592_000, "30 days", "30 дней"),
        ("pm_dispute_grace_sec", 43_200, "12 hours", "12 часов"),
        ("pm_lazy_lock_sec", 5_400, "90 min", "90 мин"),
        ("pm_lazy_lock_sec", 0, "0 s", "0 \N{CYRILLIC SMALL LETTER ES}"),
        ("pm_max_market_duration", 31_536_000, "365 days", "365 дней"),
        ("pm_listing_min_coverage_percent", 250, "250 %", "250 %"),
        ("pm_leverage_fund_percent", 10, "10 %", "10 %"),
        ("pm_leverage_max_per_position_bp", 20, "0.2 %", "0.2 %"),
        ("pm_leverage_funding_rate_ppm_per_day", 100, "0.01 %", "0.01 %"),
        ("pm_leverage_funding_rate_ppm_per_day", 150, "150 ppm", "150 ppm"),
        ("pm_max_time_penalty", 1_000_000, "100 %", "100 %"),
        ("pm_dispute_reward_multiplier", 30_000, "300 %", "300 %"),
        ("pm_lazy_pool_enabled", True, "yes", "да"),
        ("withdraw_intervals", 28, "28", "28"),
    ],
)
def test_values_are_in_the_unit_that_people_read(name: str, value: object, english: str, russian: str) -> None:
    assert (shown(name, value), shown(name, value, "ru")) == (english, russian)


def test_what_is_in_force_instead_stands_beside() -> None:
    rows = property_rows(
        language("en"),
        {"min_bet": 1, "withdraw_intervals": 28, "pm_dispute_grace_sec": 3_600},
        {"withdraw_intervals": 28, "pm_dispute_grace_sec": 7_200},
    )
    assert [(each.title, each.value, each.median) for each in rows] == [
        ("min_bet", "1", None),
        ("A withdrawal of shares has so many parts", "28", None),
        ("Time to dispute a decision", "1 hour", "2 hours"),
    ]
