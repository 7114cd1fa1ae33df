"""A validator is handed over and back by who does what the walk says: no slot is signed twice, none missed with a new
key.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledgerd.adopt.handover_facts import OtherFacts, OtherNode, Presence
from tests.sim import handovers
from tests.sim.grounds import Grounds
from tests.sim.handovers import ROUND, HandoverWorld, hand_over_and_back
from tests.sim.invariants import Broken

SEEDS = (1, 2) if "EVERY_SEED" in os.environ else (1,)
"""`EVERY_SEED=1 scripts/test tests/sim` plays both, `scripts/long_runs handovers` a hundred."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_validator_goes_over_and_back(grounds: Grounds, tmp_path: Path, seed: int) -> None:
    """`Broken` says which slot has two blocks, or was missed with a new key."""
    ending = hand_over_and_back(grounds, seed, tmp_path / "world")

    assert [leg.missed for leg in ending.legs[:2]] == [0, 0]
    for leg in ending.legs[2:]:
        assert 0 < leg.missed <= leg.seconds // ROUND + 1, leg.name
    assert ending.made > 0


def test_a_vizd_that_seems_to_be_gone_and_makes_blocks_is_waited_for(
    grounds: Grounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtherNode, "facts", lambda *_: OtherFacts(Presence.GONE))
    monkeypatch.setattr(HandoverWorld, "disturb", lambda _: None)
    monkeypatch.setattr(handovers, "LONGEST_LEG", 6.0 * ROUND)
    world = HandoverWorld(grounds, 1, tmp_path / "world")
    try:
        with pytest.raises(Broken, match=r"stuck for .* at: wait for a whole round without a block of the side"):
            world.hand_over(is_back=False, is_other_key=False)
    finally:
        world.world.close()
