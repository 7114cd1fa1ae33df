"""Branches that are applied beside the trunk: nothing of them stays, and they cost so much."""

from __future__ import annotations

import pytest

from ledgerd.chain.forks.database import ForkItem
from ledgerd.chain.forks.trial import BURST_BYTES, BYTES_A_SECOND, Trial, TrialsExhausted
from ledgerd.chain.ledger.skip import Skip
from tests.chain.forks.branches import Branches, Fresh
from tests.chain.networks import Clock
from tests.chain.same_state import assert_same_state


def test_what_is_applied_beside_leaves_no_trace(fresh: Fresh) -> None:
    branches = Branches(fresh())
    beside = branches.line(branches.root, 3, skipped=1, memo="beside")
    node, straight = fresh(), fresh()
    own = node.produce(2)
    straight.follow(own)
    chain = node.chain
    trial = Trial(chain.parts.trunk, chain.commit, Clock())
    new = [ForkItem(block) for block in reversed(beside)]
    assert trial.run(new, Skip.NOTHING)
    assert trial.tried == 1
    assert chain.head_id == own[-1].id
    assert_same_state(chain, straight.chain)
    node.produce(2)
    node.reopen()
    assert node.chain.head_number == own[-1].number + 2
    assert node.chain.parts.store.verify() == []


def test_trials_have_a_budget_that_fills_up_again(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    branches = Branches(fresh())
    beside = branches.line(branches.root, 1, skipped=1)
    node, clock = fresh(), Clock()
    trial = Trial(node.chain.parts.trunk, node.chain.commit, clock)
    new = [ForkItem(beside[0])] * (BURST_BYTES // 4096 + 1)
    # Nothing is applied: what it would cost is what counts.
    monkeypatch.setattr("ledgerd.chain.forks.trial.apply_switched", lambda *_: None)
    trial.run(new, Skip.NOTHING)
    with pytest.raises(TrialsExhausted):
        trial.run(new, Skip.NOTHING)
    assert trial.tried == 1
    clock.now += 2 * BURST_BYTES / BYTES_A_SECOND
    trial.run(new, Skip.NOTHING)
    assert trial.tried == 2
