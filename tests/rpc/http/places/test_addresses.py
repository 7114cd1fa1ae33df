"""Limits of connections and requests for each address."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.http.places.addresses import Addresses


def test_without_a_limit_nothing_is_refused() -> None:
    addresses = Addresses(rate=0)

    assert all(addresses.allows("a", 0) for _ in range(1000))


@given(st.integers(1, 20), st.lists(st.floats(0, 1), max_size=60))
def test_no_address_is_allowed_more_than_its_rate_and_one_burst(rate: int, pauses: list[float]) -> None:
    addresses, now, allowed = Addresses(rate=rate), 0.0, 0

    for pause in pauses:
        now += pause
        allowed += addresses.allows("a", now)

    assert allowed <= rate + rate * now + 1e-6
    assert addresses.allows("b", now)


def test_an_address_is_forgotten_when_its_time_makes_up_for_all_that_it_asked() -> None:
    addresses = Addresses(rate=2)
    assert [addresses.allows("a", 0) for _ in range(3)] == [True, True, False]

    addresses.forget(0.9)
    assert not all(addresses.allows("a", 0.9) for _ in range(2))
    addresses.forget(5)

    assert [addresses.allows("a", 5) for _ in range(3)] == [True, True, False]
