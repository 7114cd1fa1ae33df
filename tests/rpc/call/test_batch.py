"""The answers of a batch while they are made."""

from __future__ import annotations

import pytest

from ledgerd.basics.quotas import HeldAmounts
from ledgerd.rpc.call.batch import BatchAnswers
from ledgerd.rpc.call.bounds import BoundReached, RequestBudget
from ledgerd.rpc.call.limits import Limits


def test_the_answers_are_one_array_and_count_as_kept_until_it_is_taken() -> None:
    held = HeldAmounts(100)
    batch = BatchAnswers([1, 2], RequestBudget(Limits(), share="one"), held)
    for _ in batch.rest:
        batch.add(b"{}")
    assert held.total == 4
    assert batch.take() == b"[{},{}]"
    assert held.total == 0
    batch.release()
    assert held.total == 0


def test_whoever_has_most_may_not_go_on_where_too_much_is_kept() -> None:
    held = HeldAmounts(10)
    batch = BatchAnswers([], RequestBudget(Limits(), share="one"), held)
    with pytest.raises(BoundReached):
        batch.add(b"x" * 11)
    batch.release()
    assert held.total == 0
