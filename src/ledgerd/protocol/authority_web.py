"""The accounts that checks of authorities meet as members, and which of them are known to fail (spec 01, section 10.2).

An account that failed would be walked again each time it is met, and its members with it: k accounts that list each
other make k times k times k steps of that. What failed fails again while nobody else is approved, so it is remembered.
When one more account is approved, only those are walked again whom that may satisfy. The walk itself is in `signing`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.lookups import GetAuthority, Lookups
from ledgerd.protocol.member_graph import FULL, LANE, MemberGraph, places
from ledgerd.protocol.names import AccountName

MAX_DEPTH = 2
"""How deep the members of members are looked up."""

PRE_APPROVED = AccountName("temp")
"""The account whose active and regular authority need no signature (spec 01, section 10.2, quirk)."""

MOST_KEPT = 1_000
"""Walks from the top whose outcome is remembered."""


class Met:
    """An authority as the keys that signed leave it."""

    __slots__ = ("authority", "bit", "is_reached", "lacking", "lacking_alone", "marks", "members", "shift")

    def __init__(self, authority: Authority, members: int, keys: dict[PublicKey, int]) -> None:
        self.authority = authority
        self.members = members
        self.bit = self.shift = 0
        """Of an account that was met as a member or by its name; other authorities have none."""
        self.marks = 0
        """The keys that are used when it is walked."""
        self.is_reached = False
        """Whether keys alone reach it: then no member is asked. No key at all does not reach a threshold of zero."""
        self.lacking = authority.weight_threshold
        """What members have to bring."""
        self.lacking_alone = 0
        """What they have to bring beside those who are approved before anybody is asked."""
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


class Failures:
    """Which accounts are known to fail while certain others are approved."""

    __slots__ = ("at", "lanes", "marking", "measured")

    def __init__(self, keys: int) -> None:
        self.at = [0] * (MAX_DEPTH + 1)
        """By the depth at which they are met."""
        self.lanes = 0
        """In the lane of each account, what it has."""
        self.measured = 0
        """The accounts whose lanes are right."""
        self.marking = [0] * keys
        """For each key, the accounts that mark it when they fail at depth 1."""

    def lacking(self, met: Met) -> int:
        """What an account lacks whose lane is right."""
        return FULL - (self.lanes >> met.shift & (1 << LANE) - 1)

    def measure(self, met: Met, lacking: int) -> None:
        """Set its lane."""
        self.lanes += FULL - lacking - (self.lanes >> met.shift & (1 << LANE) - 1) << met.shift
        self.measured |= met.bit

    def after(self, approved: AccountName, graph: MemberGraph) -> Failures:
        """Those that still fail when one more account is approved."""
        later = Failures(0)
        later.measured = self.measured
        later.marking = self.marking.copy()
        later.lanes = self.lanes + graph.column(approved).weights
        _, settled, deepest = self.at
        for name in graph.names(later.lanes & ~self.lanes & graph.full, LANE):
            deepest &= ~graph.bits[name]
            settled &= ~(graph.bits[name] | graph.column(name).owners)
        later.at = [0, settled, deepest]
        return later

    def forget_marks(self) -> None:
        """Have walks at depth 1 made again, for the keys that they mark."""
        self.at[1] = 0
        self.marking = [0] * len(self.marking)


WalkResult = tuple[bool, int, Failures, int]
"""Whether an authority was reached, and who is approved, who is known to fail and which keys are used then."""


class Web:
    """What checks with the same keys, approvals and way of looking members up know of the accounts they meet."""

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
        self.approved = self.graph.bit(PRE_APPROVED)
        """Those who are approved before anybody is asked."""
        self.approvals = frozenset(approvals)
        for name in self.approvals:
            self.approved |= self.graph.bit(name)
        self.failures = Failures(len(self.keys))
        """While they are the only ones."""
        self.marks = 0
        """The keys that anybody marks who was met."""
        self.holders = [0] * len(self.keys)
        """For each key, the accounts that mark it."""
        self.firsts: dict[Met, WalkResult] = {}
        """What has come of walks from the top that began while nobody else was approved."""
        self._get = get
        self._unmeasured: list[Met] = []
        self._accounts: dict[AccountName, Met] = {}
        self._authorities: dict[int, Met] = {}

    def account(self, name: AccountName) -> Met:
        """The authority of a member; raises for an account that does not exist."""
        met = self._accounts.get(name)
        if met is None:
            authority = self._get(name)
            row = self.graph.row(name, authority)
            met = self._accounts[name] = self._met(authority, row.members)
            met.bit, met.shift = row.bit, row.shift
            self._unmeasured.append(met)
            if met.marks:
                for place in places(met.marks):
                    self.holders[place] |= met.bit
        return met

    def authority(self, authority: Authority) -> Met:
        """An authority that is asked for as it is."""
        met = self._authorities.get(id(authority))
        if met is None:
            met = self._authorities[id(authority)] = self._met(authority, self.graph.members(authority))
        return met

    def _met(self, authority: Authority, members: int) -> Met:
        self.lookups.count(1 + len(authority.key_auths) + len(authority.account_auths))
        met = Met(authority, members, self.keys)
        met.lacking_alone = self.lacking(met, self.approved)
        self.marks |= met.marks
        return met

    def lacking(self, met: Met, approved: int) -> int:
        """What an authority lacks beyond its keys and approved members."""
        members = met.members & approved
        if not members:
            return met.lacking
        weights = met.authority.account_auths
        return met.lacking - sum([weights[name] for name in self.graph.chosen(members, met.authority)])

    def measure(self) -> None:
        """Set the lanes of all who were met, before the first account is approved."""
        for met in self._unmeasured:
            self.failures.measure(met, met.lacking_alone)
        self._unmeasured.clear()

    def keep(self, met: Met, result: WalkResult) -> None:
        """Remember what has come of a walk from the top."""
        if len(self.firsts) >= MOST_KEPT:
            self.firsts.clear()
        self.firsts[met] = result
