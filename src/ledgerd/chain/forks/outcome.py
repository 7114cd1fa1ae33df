"""What became of a block that was pushed: the answer of `Chain.push_block` to peers, clients and the producer alike."""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec

from ledgerd.protocol.errors import RuleViolation

FARTHEST_AHEAD = 100
"""A block further above the head than this is not kept: blocks that far ahead come by sync, in ranges."""


class Outcome(msgspec.Struct, frozen=True):
    """What became of a block; always one of the classes below."""

    has_moved: ClassVar[bool] = False
    """Whether the head changed."""

    @property
    def violation(self) -> RuleViolation | None:
        """The rule whose text the sender of the block is answered; `None` where the block was accepted."""
        return None

    def or_raise(self) -> Self:
        if self.violation is not None:
            raise self.violation
        return self


class Applied(Outcome, frozen=True):
    """It continues the head, and is applied; so are blocks that had waited for it."""

    has_moved: ClassVar[bool] = True


class Switched(Outcome, frozen=True):
    """It made another branch the best: a fork switch was made."""

    has_moved: ClassVar[bool] = True


class AlreadyKnown(Outcome, frozen=True):
    """It was applied before, and nothing has changed."""


class OnBranch(Outcome, frozen=True):
    """It is kept as a candidate, on a branch that is not the best, or out of turn behind the head."""


class BranchRefused(Outcome, frozen=True):
    """It made another branch the best, but a block of that branch breaks a rule: the head is the one before, and
    what broke the rule is forgotten with all above it.
    """

    rule: RuleViolation
    number: int
    """The number of the block that broke the rule."""


class _Unaccepted(Outcome, frozen=True):
    """It was not taken in, by this rule."""

    rule: RuleViolation

    @property
    def violation(self) -> RuleViolation | None:
        return self.rule


class Unlinked(Outcome, frozen=True):
    """Its parent is not known, or no way leads from its branch to the trunk."""

    behind: int
    """How far below the head it lies; negative above it."""
    has_parent: bool = False
    """Whether its parent is at hand all the same."""
    rule: RuleViolation | None = None
    """What the sender is told where the block can be of no use: nothing, when it is above the head."""

    @property
    def violation(self) -> RuleViolation | None:
        """None for a block above the head: its parents may still arrive."""
        return self.rule


class TooOld(_Unaccepted, frozen=True):
    """It lies below everything that could still be switched to."""


class Refused(_Unaccepted, frozen=True):
    """It breaks a rule; nothing of it is kept."""
