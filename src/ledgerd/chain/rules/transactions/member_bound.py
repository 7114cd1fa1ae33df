"""How many members of authorities are looked at for a transaction that waits; for one in a block there is no bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.lookups import MOST_MEMBERS, TooManyMembers


class BeyondMemberBound(RuleViolation):
    """A transaction that may be valid, and asks for too much to find that out. A block with it would be accepted."""


@contextmanager
def bounding_members(ledger: Ledger, most: int = MOST_MEMBERS) -> Iterator[None]:
    """Refuse what needs more looks at keys and members than so many; proposals that it carries out count with it."""
    try:
        with ledger.lookups.at_most(most):
            yield
    except TooManyMembers:
        raise BeyondMemberBound(
            f"The authorities that this transaction asks for have more than {most} keys and members to look at"
        ) from None
