"""Hours of a shadow in virtual time, with restarts and forks of both sides: nothing is told that is no difference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.shadow.world import Played

SEEDS = int(os.environ.get("SHADOW_SEEDS", "2"))
HOURS = float(os.environ.get("SHADOW_HOURS", "1"))
FIRST = int(os.environ.get("SHADOW_FIRST", "1"))
EACH = 25.0
"""Hours between two starts of the shadow itself."""


@pytest.mark.parametrize("seed", range(FIRST, FIRST + SEEDS))
def test_sound_nodes_are_equal_through_restarts_and_forks_of_both(seed: int, tmp_path: Path) -> None:
    played = Played(seed, tmp_path, hours=HOURS)
    left = HOURS
    while left > 0:
        played.run(min(left, HOURS / 2, EACH))
        played.start()
        left -= min(left, HOURS / 2, EACH)

    record = played.record
    assert (record.differences, played.told, list(tmp_path.glob("difference-*"))) == (0, [], [])
    assert record.dropped > 0
    assert record.cleared > 0
    assert record.blocks > HOURS * 1_200 * 0.7
    assert record.questions > HOURS * 3_600
    kinds = {trouble.kind for node in (played.ours, played.theirs) for trouble in node.troubles}
    assert kinds == {"away", "fork", "waiting"}
