"""What the chain says became of a block, and what its sender is told of it."""

from __future__ import annotations

from ledgerd.chain.forks.database import BlockTooOld, UnlinkableBlock
from ledgerd.chain.forks.outcome import (
    AlreadyKnown,
    Applied,
    BranchRefused,
    OnBranch,
    Refused,
    Switched,
    TooOld,
    Unlinked,
)
from tests.chain.forks.branches import Branches, Fresh, outcome, overdrawn, push_all, spoiled, unknown
from tests.chain.senders import by_client, by_peer


def test_the_outcome_says_whether_a_block_was_applied_or_made_the_chain_switch(fresh: Fresh) -> None:
    branches = Branches(fresh())
    short = branches.line(branches.root, 2)
    long = branches.line(branches.root, 3, skipped=1)
    node = fresh()
    assert [outcome(node, block) for block in short] == [Applied(), Applied()]
    assert [outcome(node, block) for block in long] == [OnBranch(), OnBranch(), Switched()]
    assert outcome(node, long[0]) == AlreadyKnown()
    assert outcome(node, short[0]) == OnBranch()


def test_the_outcome_says_why_a_block_has_no_place(fresh: Fresh) -> None:
    branches = Branches(fresh())
    blocks = branches.line(branches.root, 4)
    (stray,) = branches.line(branches.root, 1, skipped=8)
    node = fresh()
    assert outcome(node, blocks[3]) == Unlinked(-4)
    assert outcome(node, blocks[3]).violation is None
    push_all(node, blocks)
    node.produce(12)
    assert node.chain.irreversible > stray.number
    late = outcome(node, stray)
    assert isinstance(late, TooOld)
    assert isinstance(late.violation, BlockTooOld)
    dead = outcome(node, unknown(node))
    assert isinstance(dead, Unlinked)
    assert (dead.behind, dead.has_parent) == (2, False)
    assert isinstance(dead.violation, UnlinkableBlock)


def test_the_outcome_names_the_rule_that_a_block_or_its_branch_breaks(fresh: Fresh) -> None:
    maker = fresh()
    branches = Branches(maker)
    first = branches.grow(branches.root)
    bad = spoiled(maker, first)
    node = fresh()
    refused = outcome(node, bad)
    assert isinstance(refused, Refused)
    assert "merkle" in str(refused.violation)
    assert not node.chain.is_known(bad.id)

    good = branches.line(branches.root, 2)
    other = branches.line(branches.root, 2, skipped=1)
    tip = overdrawn(maker, branches.grow(other[-1].id))
    push_all(node, [*good, *other])
    left = outcome(node, tip)
    assert isinstance(left, BranchRefused)
    assert (left.number, left.violation, left.has_moved) == (tip.number, None, False)


def test_a_block_that_breaks_a_rule_is_answered_to_a_client_and_charged_to_a_peer(fresh: Fresh) -> None:
    maker = fresh()
    bad = spoiled(maker, maker.make())
    node = fresh()
    direct = outcome(node, bad).violation
    answer = by_client(node, bad)
    assert (type(answer), str(answer)) == (type(direct), str(direct))
    assert by_peer(node, bad).strikes == 1
    (good,) = maker.produce()
    assert by_client(node, good) is None
    assert by_peer(node, good).strikes == 0
