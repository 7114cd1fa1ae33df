"""The walk over an authority and its members: who is satisfied, and which keys that uses (spec 01, section 10.2).

Members are counted in their order and counting stops at the threshold, so a later key stays unused, and an unused key
fails the transaction: order is part of the rule.
"""

from __future__ import annotations

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.authority_web import MAX_DEPTH, Met, Web
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.member_graph import places
from ledgerd.protocol.names import AccountName


class Signing:
    """Which accounts are approved and which keys are used in a check, so far."""

    __slots__ = ("_approved", "_failures", "_idle", "_used", "_web")

    def __init__(self, web: Web) -> None:
        self._web = web
        self._approved = web.approved
        self._failures = web.failures
        self._used = 0
        self._idle = web.approvals

    def copy(self) -> Signing:
        """The same, to be marked without marking this one."""
        other = Signing(self._web)
        other._approved, other._failures = self._approved, self._failures
        other._used, other._idle = self._used, self._idle
        return other

    def signed(self, key: PublicKey) -> bool:
        """Whether a key has signed (or could sign); it counts as used from now on."""
        place = self._web.keys.get(key)
        if place is None:
            return False
        self._used |= 1 << place
        return True

    def name_satisfied(self, name: AccountName) -> bool:
        """Whether an account has approved, or its authority is reached."""
        if self._web.graph.bits.get(name, 0) & self._approved:
            self._idle -= {name}
            return True
        return self._reached_from_top(self._web.account(name))

    def satisfied(self, authority: Authority) -> bool:
        """Whether an authority is reached. Marks that a failing branch has left stay."""
        return self._reached_from_top(self._web.authority(authority))

    def approve(self, name: AccountName) -> None:
        """An account counts as approved from now on, though its members were not asked."""
        self._idle -= {name}
        bit = self._web.graph.bit(name)
        if not bit & self._approved:
            self._approve(name, bit)
            if any(bit & holders for holders in self._web.holders):
                self._failures.forget_marks()  # its owners do not mark its keys any more

    # -- what came of it

    @property
    def used_keys(self) -> set[PublicKey]:
        """The used keys."""
        return {key for key, place in self._web.keys.items() if self._used >> place & 1}

    @property
    def has_used_all(self) -> bool:
        """Whether every key was of use."""
        return self._used.bit_count() == len(self._web.keys)

    @property
    def idle_approvals(self) -> frozenset[AccountName]:
        """The accounts that approved and were not asked."""
        return self._idle

    # -- the walk

    def _reached_from_top(self, met: Met) -> bool:
        """While nobody else is approved the same comes of it each time, and the checks of a transaction ask often."""
        web = self._web
        if self._approved != web.approved:
            return self._reached(met, 0)
        result = web.firsts.get(met)
        if result is None:
            before, self._used = self._used, 0
            is_reached = self._reached(met, 0)
            result = is_reached, self._approved, self._failures, self._used
            web.keep(met, result)
            self._used = before
        is_reached, self._approved, self._failures, used = result
        self._used |= used
        return is_reached

    def _reached(self, met: Met, depth: int) -> bool:
        self._used |= met.marks
        if met.is_reached:
            return True
        lacking = self._lacking(met)
        members = met.members & ~self._approved
        if depth == MAX_DEPTH:
            if lacking <= 0:
                return True
        elif lacking <= 0:
            return self._count(met, depth + 1, self._approved)
        else:
            unknown = members & ~self._failures.at[depth + 1]
            for name in self._web.graph.chosen(unknown, met.authority) if unknown else ():
                before = self._approved
                is_reached = self._member_reached(name, depth + 1)
                if self._approved != before:
                    return self._count(met, depth + 1, before, name, is_reached=is_reached)
            self._pass_over(members, depth + 1)
        self._settle(met, depth)
        return False

    def _count(
        self, met: Met, depth: int, before: int, latest: AccountName | None = None, *, is_reached: bool = False
    ) -> bool:
        """Count members as the rule says, one after the other.

        Args:
            met: Whose members are counted.
            depth: That of the members.
            before: Who was approved before the latest member was walked.
            latest: The member up to which all were walked already.
            is_reached: Whether it was reached.
        """
        if latest is None and self._is_all_known(met, depth):
            return True
        weights, bits = met.authority.account_auths, self._web.graph.bits
        self._web.lookups.count(len(weights))
        lacking, passed, is_behind = met.lacking, 0, latest is None
        approved, failing = self._approved, self._failures.at[depth]
        for name, weight in weights.items():
            bit = bits[name]
            if not is_behind:
                is_counted = is_reached if name == latest else bool(bit & before)
                is_behind = name == latest
            elif bit & approved:
                is_counted = True
            elif bit & failing:
                is_counted = False
            else:
                is_counted = self._member_reached(name, depth)
                approved, failing = self._approved, self._failures.at[depth]
            if is_counted:
                lacking -= weight
                if lacking <= 0:
                    break
            else:
                passed |= bit
        # The reference adds weights in 32 bits, which 16-bit weights cannot overflow in a transaction's size.
        self._pass_over(passed, depth)
        return lacking <= 0

    def _is_all_known(self, met: Met, depth: int) -> bool:
        """Whether it does not matter which of the members are asked that are not approved."""
        members = met.members & ~self._approved
        return not (members & ~self._failures.at[depth] or (members and self._web.marks & ~self._used))

    def _member_reached(self, name: AccountName, depth: int) -> bool:
        met = self._web.account(name)
        if not self._reached(met, depth):
            return False
        self._approve(name, met.bit)
        return True

    def _approve(self, name: AccountName, bit: int) -> None:
        if not bit & self._approved:
            if self._approved == self._web.approved:
                self._web.measure()
            self._approved |= bit
            self._failures = self._failures.after(name, self._web.graph)

    def _lacking(self, met: Met) -> int:
        """What an authority lacks beyond its keys and approved members."""
        failures = self._failures
        if self._approved == self._web.approved:
            return met.lacking_alone
        if met.bit & failures.measured:
            return failures.lacking(met)
        lacking = self._web.lacking(met, self._approved)
        if met.bit:
            failures.measure(met, lacking)
        return lacking

    def _settle(self, met: Met, depth: int) -> None:
        """Remember that an account has failed, and nobody was approved meanwhile."""
        failures, web = self._failures, self._web
        failures.at[MAX_DEPTH] |= met.bit
        if depth < MAX_DEPTH:
            failures.at[1] |= met.bit
            asked = met.members & ~self._approved | met.bit
            for place in places(web.marks) if web.marks else ():
                if web.holders[place] & asked:
                    failures.marking[place] |= met.bit

    def _pass_over(self, members: int, depth: int) -> None:
        """Mark the keys that members would mark which are known to fail at a depth."""
        unmarked = self._web.marks & ~self._used
        if unmarked and members:
            marking = self._web.holders if depth == MAX_DEPTH else self._failures.marking
            for place in places(unmarked):
                if marking[place] & members:
                    self._used |= 1 << place
