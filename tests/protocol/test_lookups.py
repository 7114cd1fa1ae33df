"""What checks share, and the count of what they look at."""

from __future__ import annotations

import pytest

from ledgerd.protocol.authorities.authority_web import Lookups, TooManyMembers
from ledgerd.protocol.authorities.member_graph import MOST_NAMES
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName

NOBODY = Authority(1, {}, {})


def get(_: AccountName) -> Authority:
    return NOBODY


def test_without_a_bound_any_number_is_looked_at_and_counted() -> None:
    lookups = Lookups()
    lookups.count(10**9)
    assert lookups.checked == 10**9


def test_beyond_the_bound_it_ends() -> None:
    lookups = Lookups(10)
    lookups.count(10)
    with pytest.raises(TooManyMembers):
        lookups.count(1)


def test_a_bound_holds_for_a_while_and_counts_from_its_beginning() -> None:
    lookups = Lookups()
    lookups.count(100)
    with lookups.at_most(10):
        lookups.count(10)
        with pytest.raises(TooManyMembers):
            lookups.count(1)
    assert lookups.checked == 11
    lookups.count(100)


def test_each_way_of_looking_up_has_a_graph_of_its_own_until_that_is_large() -> None:
    lookups = Lookups()
    graph = lookups.graph(get)
    assert lookups.graph(get) is graph
    assert lookups.graph(lambda _: NOBODY) is not graph
    for place in range(MOST_NAMES + 1):
        graph.bit(AccountName(f"n{place}"))
    assert lookups.graph(get) is not graph
