"""What checks share, and the count of what they look at."""

from __future__ import annotations

import pytest

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.lookups import Lookups, TooManyMembers
from ledgerd.protocol.member_graph import MOST_NAMES
from ledgerd.protocol.names import AccountName

NOBODY = Authority(1, {}, {})


def get(_: AccountName) -> Authority:
    return NOBODY


def test_beyond_the_bound_it_ends() -> None:
    lookups = Lookups(10)
    lookups.count(10)
    with pytest.raises(TooManyMembers):
        lookups.count(1)


def test_each_way_of_looking_up_has_a_graph_of_its_own_until_that_is_large() -> None:
    lookups = Lookups()
    graph = lookups.graph(get)
    assert lookups.graph(get) is graph
    assert lookups.graph(lambda _: NOBODY) is not graph
    for place in range(MOST_NAMES + 1):
        graph.bit(AccountName(f"n{place}"))
    assert lookups.graph(get) is not graph
