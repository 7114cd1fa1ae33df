"""What checks of authorities share from one to the next, and how much they look at.

Who sends us a transaction for nothing may have us look at a bounded number of members. Transactions in blocks are law:
nothing bounds them but the walk itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.member_graph import MemberGraph
from ledgerd.protocol.names import AccountName

GetAuthority = Callable[[AccountName], Authority]

MOST_MEMBERS = 5_000
"""Keys and members that are looked at for whoever sends us something: so many has an account of 40 accounts of 40."""


class TooManyMembers(Exception):
    """More members would have to be looked at than may be. No rule is broken: nothing may take it for one."""


class Lookups:
    """What is known of members, by the way of looking them up, and a count of those that were looked at."""

    def __init__(self, most: int | None = None) -> None:
        self.looked = 0
        """Keys and members, since the bound was set."""
        self._most = most
        self._graphs = WeakKeyDictionary[GetAuthority, MemberGraph]()
        """Ways that count their own looks refer to this: no circle keeps what they read from."""

    def graph(self, get: GetAuthority) -> MemberGraph:
        """Of one way of looking members up: for one check, as the next one may get another."""
        known = self._graphs.get(get)
        if known is None or known.is_large:
            known = self._graphs[get] = MemberGraph()
        return known

    @contextmanager
    def at_most(self, most: int) -> Iterator[None]:
        """Count from here, and raise `TooManyMembers` beyond so many."""
        before = self._most
        self.looked, self._most = 0, most
        try:
            yield
        finally:
            self._most = before

    def count(self, members: int) -> None:
        self.looked += members
        if self._most is not None and self.looked > self._most:
            raise TooManyMembers
