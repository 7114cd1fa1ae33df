"""What the chain says of a block, in the classes by which peers are judged (spec 04, section 12)."""

from __future__ import annotations

import pytest

from ledgerd.chain.forks.database import BlockTooOld, UnlinkableBlock
from ledgerd.chain.forks.outcome import (
    AlreadyKnown,
    Applied,
    BranchRefused,
    OnBranch,
    Outcome,
    Refused,
    Switched,
    TooOld,
    Unlinked,
)
from ledgerd.p2p.shared.chain_access import (
    DEAD_FORK_GRACE_BLOCKS,
    DEAD_FORK_GRACE_SECONDS,
    Acceptance,
    acceptance_of,
)
from ledgerd.protocol.errors import RuleViolation

LATER = DEAD_FORK_GRACE_SECONDS + 1
RULE = RuleViolation("merkle")
DEAD = UnlinkableBlock("its parent is not known")


@pytest.mark.parametrize(
    ("outcome", "acceptance"),
    [
        (Applied(), Acceptance.ACCEPTED),
        (Switched(), Acceptance.ACCEPTED),
        (AlreadyKnown(), Acceptance.ALREADY_KNOWN),
        (TooOld(BlockTooOld("")), Acceptance.ALREADY_KNOWN),
        (OnBranch(), Acceptance.FORK_DB_ONLY),
        (BranchRefused(RULE, 7), Acceptance.FORK_DB_ONLY),
        (Refused(RULE), Acceptance.REJECTED),
        (Unlinked(-1), Acceptance.FORK_DB_ONLY),
        (Unlinked(-101), Acceptance.FORK_DB_ONLY),
        (Unlinked(0, rule=DEAD), Acceptance.DEAD_FORK),
        (Unlinked(3, has_parent=True, rule=DEAD), Acceptance.FORK_DB_ONLY),
    ],
)
def test_an_outcome_has_its_class(outcome: Outcome, acceptance: Acceptance) -> None:
    assert acceptance_of(outcome, LATER) is acceptance


def test_a_block_near_the_head_is_no_dead_fork_right_after_a_start() -> None:
    near, far = Unlinked(DEAD_FORK_GRACE_BLOCKS, rule=DEAD), Unlinked(DEAD_FORK_GRACE_BLOCKS + 1, rule=DEAD)
    assert acceptance_of(near, DEAD_FORK_GRACE_SECONDS) is Acceptance.FORK_DB_ONLY
    assert acceptance_of(near, LATER) is Acceptance.DEAD_FORK
    assert acceptance_of(far, DEAD_FORK_GRACE_SECONDS) is Acceptance.DEAD_FORK


def test_an_outcome_of_a_refused_block_raises_its_rule() -> None:
    with pytest.raises(RuleViolation, match="merkle"):
        Refused(RULE).or_raise()
    assert OnBranch().or_raise() == OnBranch()
    assert Unlinked(-1).or_raise().violation is None
