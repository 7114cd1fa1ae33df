"""Beneficiaries of awards and of content: how many, how much, in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.beneficiary import Beneficiary, require_beneficiaries, require_ordered_beneficiaries
from ledgerd.protocol.types.names import AccountName

ALICE, BOB, CHARLIE = (AccountName(name) for name in ("alice", "bob", "charlie"))
TOO_MANY = "beneficiaries.size() < 128: Cannot specify more than 127 beneficiaries."
TOO_MUCH = "sum <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to a content"
UNSORTED = "beneficiaries[i - 1] < beneficiaries[i]: Benficiaries must be specified in sorted order (account ascending)"


def too_much_for_one(index: str) -> str:
    return (
        f"beneficiaries[{index}].weight <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to one account"
    )


def many(count: int) -> tuple[Beneficiary, ...]:
    return tuple(Beneficiary(AccountName(f"b{number:03}"), 1) for number in range(count))


def refused_for_an_award(beneficiaries: tuple[Beneficiary, ...]) -> str:
    with pytest.raises(RuleViolation) as refusal:
        require_beneficiaries(beneficiaries)
    return refusal.value.message


def refused_for_content(beneficiaries: tuple[Beneficiary, ...]) -> str:
    with pytest.raises(RuleViolation) as refusal:
        require_ordered_beneficiaries(beneficiaries)
    return refusal.value.message


def test_an_award_may_name_none_in_any_order_and_often() -> None:
    require_beneficiaries(())
    require_beneficiaries((Beneficiary(BOB, 1), Beneficiary(ALICE, 1), Beneficiary(BOB, 1)))


def test_content_names_one_at_least() -> None:
    require_ordered_beneficiaries((Beneficiary(ALICE, 0),))
    assert refused_for_content(()) == "beneficiaries.size(): Must specify at least one beneficiary"


def test_there_are_127_at_most() -> None:
    require_beneficiaries(many(127))
    require_ordered_beneficiaries(many(127))
    assert refused_for_an_award(many(128)) == TOO_MANY
    assert refused_for_content(many(128)) == TOO_MANY


def test_names_have_to_be_valid() -> None:
    message = "is_valid_account_name(name): Account name a is invalid"
    wrong = Beneficiary(AccountName("a"), 20_000)
    assert refused_for_an_award((wrong,)) == message
    assert refused_for_content((wrong,)) == message
    assert refused_for_content((Beneficiary(ALICE, 1), wrong)) == message


def test_one_takes_everything_at_most() -> None:
    everything, more = Beneficiary(ALICE, 10_000), Beneficiary(BOB, 10_001)
    require_beneficiaries((everything,))
    require_ordered_beneficiaries((everything,))
    assert refused_for_an_award((more,)) == too_much_for_one("i")
    assert refused_for_content((more,)) == too_much_for_one("0")
    assert refused_for_content((Beneficiary(ALICE, 1), more)) == too_much_for_one("i")


def test_all_take_everything_at_most() -> None:
    require_ordered_beneficiaries((Beneficiary(ALICE, 4_000), Beneficiary(BOB, 6_000)))
    too_much = (Beneficiary(ALICE, 4_000), Beneficiary(BOB, 6_001))
    assert refused_for_content(too_much) == TOO_MUCH
    assert refused_for_an_award(too_much) == TOO_MUCH


def test_content_names_them_in_ascending_order_each_once() -> None:
    alice, bob, charlie = (Beneficiary(name, 1) for name in (ALICE, BOB, CHARLIE))
    require_ordered_beneficiaries((alice, bob, charlie))
    assert refused_for_content((alice, charlie, bob)) == UNSORTED
    assert refused_for_content((alice, alice)) == UNSORTED


def test_the_order_is_that_of_the_text() -> None:
    require_ordered_beneficiaries((Beneficiary(AccountName("ab"), 1), Beneficiary(AccountName("ba"), 1)))


def test_content_looks_at_the_sum_before_the_order() -> None:
    assert refused_for_content((Beneficiary(BOB, 6_000), Beneficiary(ALICE, 6_000))) == TOO_MUCH


@given(st.lists(st.integers(0, 10_000), max_size=10))
def test_an_award_is_refused_exactly_if_the_parts_exceed_everything(weights: list[int]) -> None:
    beneficiaries = tuple(Beneficiary(ALICE, weight) for weight in weights)
    if sum(weights) <= 10_000:
        require_beneficiaries(beneficiaries)
    else:
        assert refused_for_an_award(beneficiaries) == TOO_MUCH
