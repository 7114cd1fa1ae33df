"""The walk over an authority and its members: who is satisfied, and which keys that uses (spec 01, section 10.2).

Members are counted in their order and counting stops at the threshold, so a later key stays unused, and an unused key
fails the transaction: order is part of the rule.
"""

from __future__ import annotations

from ledgerd.protocol.authorities.authority_web import MAX_DEPTH, AuthorityNode, WalkState, Web
from ledgerd.protocol.authorities.member_graph import places
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName


class Signing:
    """The accounts that are approved and the keys that are used so far in one check."""

    __slots__ = ("_state", "_used", "_web", "idle_approvals")

    def __init__(self, web: Web) -> None:
        self._web = web
        self._state = web.beginning
        self._used = 0
        self.idle_approvals = web.approvals

    def copy(self) -> Signing:
        other = Signing(self._web)
        other._state, other._used, other.idle_approvals = self._state, self._used, self.idle_approvals
        return other

    def signed(self, key: PublicKey) -> bool:
        place = self._web.keys.get(key)
        if place is None:
            return False
        self._used |= 1 << place
        return True

    def name_satisfied(self, name: AccountName) -> bool:
        if self._web.graph.bits.get(name, 0) & self._state.approved:
            self.idle_approvals -= {name}
            return True
        return self._walked(self._web.account(name), 0)

    def satisfied(self, authority: Authority) -> bool:
        """Whether an authority is reached. Marks that a failing branch has left stay."""
        return self._walked(self._web.authority(authority), 0)

    def approve(self, name: AccountName) -> None:
        """Approve an account without asking its members."""
        self.idle_approvals -= {name}
        if not self._web.graph.bit(name) & self._state.approved:
            self._state = self._web.after_approval(self._state, name)

    # -- what came of it

    @property
    def used_keys(self) -> set[PublicKey]:
        return {key for key, place in self._web.keys.items() if self._used >> place & 1}

    @property
    def has_used_all(self) -> bool:
        return self._used.bit_count() == len(self._web.keys)

    # -- the walk

    def _walked(self, node: AuthorityNode, depth: int) -> bool:
        """Walk an authority, or take the remembered result for the same state: the checks of a transaction repeat
        walks.
        """
        state = self._state
        result = state.results[depth].get(node)
        if result is None:
            before, self._used = self._used, 0
            is_reached = self._reached(node, depth)
            later = self._state if self._state is not state else None
            if is_reached or depth == 0 or later:  # all others are among those known to fail
                self._web.keep(state, node, depth, (is_reached, later, self._used))
            self._used |= before
            return is_reached
        is_reached, later, used = result
        self._state = later or state
        self._used |= used
        return is_reached

    def _reached(self, node: AuthorityNode, depth: int) -> bool:
        self._used |= node.marks
        if node.is_reached:
            return True
        lacking = self._lacking(node)
        state = self._state
        members = node.members & ~state.approved
        if depth == MAX_DEPTH:
            if lacking <= 0:
                return True
        elif lacking <= 0:
            return self._count(node, depth + 1)
        else:
            unknown = members & ~state.failing[depth + 1]
            for name in self._web.graph.chosen(unknown, node.authority) if unknown else ():
                is_reached = self._member_reached(name, depth + 1)
                if self._state is not state:
                    return self._count(node, depth + 1, (state, name), is_reached=is_reached)
            self._used |= self._marks_of(members, depth + 1, state)
        self._settle(node, depth)
        return False

    def _count(
        self,
        node: AuthorityNode,
        depth: int,
        latest: tuple[WalkState, AccountName] | None = None,
        *,
        is_reached: bool = False,
    ) -> bool:
        """Count members as the rule says, one after the other.

        Args:
            node: Whose members are counted.
            depth: That of the members.
            latest: The member up to which all were walked already, and the state before it.
            is_reached: Whether it was reached.
        """
        if latest is None and self._is_all_known(node, depth):
            return True
        weights, bits = node.authority.account_auths, self._web.graph.bits
        self._web.lookups.count(len(weights))
        state, last = latest or (self._state, None)
        lacking, passed, is_behind = node.lacking, 0, latest is None
        for name, weight in weights.items():
            bit = bits[name]
            if bit & state.approved:
                is_counted = True
            elif is_behind and not bit & state.failing[depth]:
                is_counted = self._member_reached(name, depth)
            else:
                is_counted = is_reached and name == last
            is_behind = is_behind or name == last
            if not is_counted:
                passed |= bit
            if self._state is not state and is_behind:
                self._used |= self._marks_of(passed, depth, state)
                state, passed = self._state, 0
            if is_counted:
                lacking -= weight
                if lacking <= 0:
                    break
        # The reference adds weights in 32 bits, which 16-bit weights cannot overflow in a transaction's size.
        self._used |= self._marks_of(passed, depth, state)
        return lacking <= 0

    def _is_all_known(self, node: AuthorityNode, depth: int) -> bool:
        """Whether every member that is not approved is known to fail, and would mark no unused key: then none has to be
        asked.
        """
        state = self._state
        members = node.members & ~state.approved
        return not (members & ~state.failing[depth] or self._marks_of(members, depth, state))

    def _member_reached(self, name: AccountName, depth: int) -> bool:
        node = self._web.account(name)
        is_reached = self._reached(node, depth) if depth == MAX_DEPTH else self._walked(node, depth)
        if is_reached and not node.bit & self._state.approved:
            self._state = self._web.after(self._state, name)
        return is_reached

    def _lacking(self, node: AuthorityNode) -> int:
        """What an authority lacks beyond its keys and approved members."""
        state = self._state
        if state is self._web.beginning:
            return node.lacking_alone
        if node.bit & state.measured:
            return state.lacking(node)
        lacking = self._web.lacking(node, state.approved)
        if node.bit:
            state.measure(node, lacking)
        return lacking

    def _settle(self, node: AuthorityNode, depth: int) -> None:
        """Remember that an account has failed, in the state in which nobody else was approved."""
        state, web = self._state, self._web
        state.failing[MAX_DEPTH] |= node.bit
        if depth < MAX_DEPTH:
            state.failing[1] |= node.bit
            asked = node.members & ~state.approved | node.bit
            for place in places(web.marks) if web.marks else ():
                if web.holders[place] & asked:
                    state.marking[place] |= node.bit

    def _marks_of(self, members: int, depth: int, state: WalkState) -> int:
        """The unused keys that these members would mark; each of them is known to fail at this depth."""
        marks, unused = 0, self._web.marks & ~self._used
        if unused and members:
            marking = self._web.holders if depth == MAX_DEPTH else state.marking
            for place in places(unused):
                if marking[place] & members:
                    marks |= 1 << place
        return marks
