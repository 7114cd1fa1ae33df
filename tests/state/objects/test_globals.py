"""Global properties: what shares are worth (spec 02, sections 1.4 and 21.3)."""

from __future__ import annotations

import pytest

from ledgerd.protocol.errors import RuleViolation
from ledgerd.state.objects.globals import DynamicGlobalProperty

SOME = DynamicGlobalProperty(total_vesting_shares=21_111_123_456_789, total_vesting_fund=20_999_888_777)


def test_the_first_shares_have_a_set_price() -> None:
    assert DynamicGlobalProperty().shares_for(12_345) == 12_345_000
    assert DynamicGlobalProperty(total_vesting_fund=7).shares_for(1) == 1_000
    assert DynamicGlobalProperty(total_vesting_shares=7).tokens_for(1_999) == 1


def test_later_ones_cost_what_all_are_worth() -> None:
    assert (SOME.shares_for(1_000), SOME.shares_for(10_000)) == (1_005_296, 10_052_969)
    assert SOME.tokens_for(1_000_000) == 994


def test_nothing_buys_nothing() -> None:
    assert (SOME.shares_for(0), SOME.tokens_for(0)) == (0, 0)


@pytest.mark.parametrize("amount", [-1, -1_000_000])
def test_a_negative_amount_has_no_worth(amount: int) -> None:
    with pytest.raises(RuleViolation, match="hi == 0: "):
        SOME.shares_for(amount)
    with pytest.raises(RuleViolation, match="hi == 0: "):
        SOME.tokens_for(amount)
