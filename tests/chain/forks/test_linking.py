"""Whatever the candidates have lost of the trunk, a branch that leaves it can still win (spec 03, section 9)."""

from __future__ import annotations

from tests.chain.forks.branches import Branches, Fresh, push_all
from tests.chain.senders import Sender


def test_a_branch_that_leaves_the_trunk_below_a_forgotten_candidate_can_still_win(fresh: Fresh, send: Sender) -> None:
    """The candidates were begun again at the head: whoever sends the branch, it is linked to the trunk again."""
    branches = Branches(fresh())
    trunk = branches.line(branches.root, 3)
    long = branches.line(trunk[0].id, 4, skipped=1)
    node = fresh()
    push_all(node, trunk)
    node.chain.parts.linking.restart()
    push_all(node, long, send)
    assert node.chain.head_id == long[-1].id


def test_branches_survive_a_restart(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    short = branches.line(branches.root, 2)
    long = branches.line(branches.root, 3, skipped=1)
    node = fresh()
    push_all(node, short, send)
    node.reopen()
    push_all(node, long, send)
    assert node.chain.head_id == long[-1].id
