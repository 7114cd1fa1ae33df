"""The accounts that checks of authorities meet as members, and which of them are known to fail (spec 01, section
10.2). An account that failed would be walked again each time it is met, and its members with it: k accounts that list
each other make k times k times k steps of that. What failed fails again while nobody else is approved, so it is
remembered. When one more account is approved, only those are walked again whom that may satisfy; and what comes of a
walk is known where the same have been approved. Who sends us a transaction for nothing may have us check a bounded
number of members; transactions in blocks are law. The walk itself is in `signing`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from ledgerd.protocol.authorities.member_graph import FULL, LANE, MemberGraph, places
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName

GetAuthority = Callable[[AccountName], Authority]

MOST_MEMBERS = 5_000
"""Keys and members that are looked at for a sender whom it costs nothing: as many as an account has whose 40 members
have 40 each.
"""


class TooManyMembers(Exception):
    """The bound on members was reached. No rule is broken: the caller must not report one."""


class Lookups:
    """The graphs of members, one for each way of looking them up, and a count of the members that were looked at."""

    def __init__(self, most: int | None = None) -> None:
        self.checked = 0
        """Keys and members that were looked at since the bound was set."""
        self._most = most
        self._graphs = WeakKeyDictionary[GetAuthority, MemberGraph]()
        """Weak keys: a lookup function that counts refers to this object, and no reference cycle may keep alive what it
        reads.
        """

    def graph(self, get: GetAuthority) -> MemberGraph:
        """The graph for one lookup function; a check holds on to it, since a later check may get another."""
        known = self._graphs.get(get)
        if known is None or known.is_large:
            known = self._graphs[get] = MemberGraph()
        return known

    @contextmanager
    def at_most(self, most: int) -> Iterator[None]:
        before = self._most
        self.checked, self._most = 0, most
        try:
            yield
        finally:
            self._most = before

    def count(self, members: int) -> None:
        self.checked += members
        if self._most is not None and self.checked > self._most:
            raise TooManyMembers


MAX_DEPTH = 2
"""How deep the members of members are looked up."""

PRE_APPROVED = AccountName("temp")
"""The account whose active and regular authority need no signature (spec 01, section 10.2, quirk)."""

MOST_LANES, RESULT_LANES = 2_000_000, 30
"""The most lanes of states that a web remembers, and the lanes that the result of a walk counts for."""


class AuthorityNode:
    """An authority, with what the keys that signed contribute to it."""

    __slots__ = ("authority", "bit", "is_reached", "lacking", "lacking_alone", "marks", "members", "shift")

    def __init__(self, authority: Authority, members: int, keys: dict[PublicKey, int]) -> None:
        self.authority = authority
        self.members = members
        self.bit = self.shift = 0
        """The bit and the lane of an account that was met as a member or by its name; 0 for other authorities."""
        self.marks = 0
        """The keys that a walk over it uses, as a mask."""
        self.is_reached = False
        """Whether keys alone reach the threshold; then no member is asked. A threshold of zero is not reached without a
        key.
        """
        self.lacking = authority.weight_threshold
        """The weight that members have to add."""
        self.lacking_alone = 0
        """The weight that they have to add beside the members that are approved from the start."""
        if not authority.key_auths.keys().isdisjoint(keys.keys()):
            self._mark(keys)

    def _mark(self, keys: dict[PublicKey, int]) -> None:
        for key, weight in self.authority.key_auths.items():
            place = keys.get(key)
            if place is not None:
                self.marks |= 1 << place
                self.lacking -= weight
                if self.lacking <= 0:
                    self.is_reached = True
                    return


class WalkState:
    """The accounts that are approved, and those known to fail then. All checks with the same approved accounts share a
    state.
    """

    __slots__ = ("approved", "failing", "lanes", "later", "marking", "measured", "results")

    def __init__(self, approved: int) -> None:
        self.approved = approved
        self.failing = [0] * (MAX_DEPTH + 1)
        """For each depth at which they are met, the accounts whose walk has failed."""
        self.lanes = 0
        """In the lane of each account, the weight that it has reached, as `FULL` less what it lacks."""
        self.measured = 0
        """The accounts whose lanes are up to date."""
        self.marking: list[int] = []
        """For each key, the accounts that mark it when they fail at depth 1."""
        self.later: dict[AccountName, WalkState] = {}
        """The state after one more approved account, by its name."""
        self.results: tuple[dict[AuthorityNode, WalkResult], ...] = ({}, {})
        """For each depth, the results of walks that began in this state and may have approved accounts."""

    def lacking(self, node: AuthorityNode) -> int:
        return FULL - (self.lanes >> node.shift & (1 << LANE) - 1)

    def measure(self, node: AuthorityNode, lacking: int) -> None:
        self.lanes += FULL - lacking - (self.lanes >> node.shift & (1 << LANE) - 1) << node.shift
        self.measured |= node.bit

    def after(self, name: AccountName, graph: MemberGraph) -> WalkState:
        """The state after one more approved account. Accounts that it may satisfy are no longer known to fail."""
        later = WalkState(self.approved | graph.bit(name))
        later.measured = self.measured
        later.marking = self.marking.copy()
        later.lanes = self.lanes + graph.column(name).weights
        _, settled, deepest = self.failing
        for ripe in graph.names(later.lanes & ~self.lanes & graph.full, LANE):
            deepest &= ~graph.bits[ripe]
            settled &= ~(graph.bits[ripe] | graph.column(ripe).owners)
        later.failing = [0, settled, deepest]
        return later


WalkResult = tuple[bool, WalkState | None, int]
"""Whether an authority was reached, the state after the walk if it is another one, and the keys that were used."""


class Web:
    """The accounts that were met by checks with the same keys, approvals and lookup function."""

    def __init__(
        self,
        get: GetAuthority,
        keys: Collection[PublicKey],
        lookups: Lookups | None = None,
        approvals: Iterable[AccountName] = (),
    ) -> None:
        self.lookups = lookups or Lookups()
        self.graph = self.lookups.graph(get)
        self.keys = {key: place for place, key in enumerate(keys)}
        self.approvals = frozenset(approvals)
        approved = self.graph.bit(PRE_APPROVED)
        for name in self.approvals:
            approved |= self.graph.bit(name)
        self.beginning = WalkState(approved)
        """The state before any walk."""
        self.beginning.marking = [0] * len(self.keys)
        self.marks = 0
        """The keys that any account or authority met so far marks."""
        self.holders = [0] * len(self.keys)
        """For each key, the accounts that mark it."""
        self._get = get
        self._kept = 0
        self._unmeasured: list[AuthorityNode] = []
        self._accounts: dict[AccountName, AuthorityNode] = {}
        self._authorities: dict[int, AuthorityNode] = {}

    def account(self, name: AccountName) -> AuthorityNode:
        node = self._accounts.get(name)
        if node is None:
            authority = self._get(name)
            row = self.graph.row(name, authority)
            node = self._accounts[name] = self._node(authority, row.members)
            node.bit, node.shift = row.bit, row.shift
            self._unmeasured.append(node)
            if node.marks:
                for place in places(node.marks):
                    self.holders[place] |= node.bit
        return node

    def authority(self, authority: Authority) -> AuthorityNode:
        node = self._authorities.get(id(authority))
        if node is None:
            node = self._authorities[id(authority)] = self._node(authority, self.graph.members(authority))
        return node

    def _node(self, authority: Authority, members: int) -> AuthorityNode:
        self.lookups.count(1 + len(authority.key_auths) + len(authority.account_auths))
        node = AuthorityNode(authority, members, self.keys)
        node.lacking_alone = self.lacking(node, self.beginning.approved)
        self.marks |= node.marks
        return node

    def lacking(self, node: AuthorityNode, approved: int) -> int:
        """What an authority lacks beyond its keys and approved members."""
        members = node.members & approved
        if not members:
            return node.lacking
        weights = node.authority.account_auths
        return node.lacking - sum([weights[name] for name in self.graph.chosen(members, node.authority)])

    def after(self, state: WalkState, name: AccountName) -> WalkState:
        later = state.later.get(name)
        if later is None:
            later = self._after(state, name)
            if self._may_keep(len(self.graph.bits)):
                state.later[name] = later
        return later

    def after_approval(self, state: WalkState, name: AccountName) -> WalkState:
        """The state after one more account is approved without a walk, so that its owners do not mark its keys."""
        later = self._after(state, name)
        if any(holders & self.graph.bits[name] for holders in self.holders):
            later.failing[1] = 0
            later.marking = [0] * len(self.keys)
        return later

    def _after(self, state: WalkState, name: AccountName) -> WalkState:
        if state is self.beginning:
            for node in self._unmeasured:
                state.measure(node, node.lacking_alone)
            self._unmeasured.clear()
        return state.after(name, self.graph)

    def keep(self, state: WalkState, node: AuthorityNode, depth: int, result: WalkResult) -> None:
        if self._may_keep(RESULT_LANES):
            state.results[depth][node] = result

    def _may_keep(self, lanes: int) -> bool:
        self._kept += lanes
        return self._kept <= MOST_LANES
