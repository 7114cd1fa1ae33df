"""Two nodes with one signer, split, restarted, restored from backups: one block a slot, and none lost for nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from ledgerd.signer.rule import SigningRule
from tests.sim import signers
from tests.sim.grounds import Grounds
from tests.sim.pairs import FEW, MANY, ONE, OTHER, PairEnding, PairWorld, pair

SEEDS = (4, 16, 30, 37, 2, 3, 5, 8, 9, 14) if "EVERY_SEED" in os.environ else (4, 16, 30, 37)
"""Those in which most different things go wrong, the fewest first that have them all; `EVERY_SEED=1 scripts/test
tests/sim` plays the others too, and `scripts/long_runs signers` a thousand.
"""


@pytest.fixture(scope="module")
def ending_of(grounds: Grounds, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], PairEnding]:
    """How the world of a seed ends; each is run once."""
    return cache(lambda seed: pair(grounds, seed, tmp_path_factory.mktemp("pair") / "world"))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_slot_is_signed_twice_and_what_is_owed_is_in_the_chain(
    ending_of: Callable[[int], PairEnding], seed: int
) -> None:
    """`Broken` says which slot has two signatures, lacks the block of whoever asked first, or is missed afterwards."""
    assert ending_of(seed).signed > 0


def test_these_worlds_have_what_they_are_to_show(ending_of: Callable[[int], PairEnding]) -> None:
    endings = [ending_of(seed) for seed in SEEDS]
    missed = sum((each.missed for each in endings), Counter[str]())

    assert sum(each.owed for each in endings) > 7 * (len(SEEDS) - 1)
    assert missed.keys() >= {
        "the signer: WAITING",
        "the signer: CLOCK",
        "the signer: LATE",
        "the signer: AHEAD",
        "the signer was down",
        "the answer was lost",
        "asked first by a node of the minority, or behind",
        "not asked: LAG",
        "not asked: SIGNER_AWAY",
    }


def test_the_same_seed_gives_the_same_run_to_the_byte(
    ending_of: Callable[[int], PairEnding], grounds: Grounds, tmp_path: Path
) -> None:
    assert pair(grounds, SEEDS[0], tmp_path / "again") == ending_of(SEEDS[0])


def wait_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signer that takes every stop for a clean one."""

    def ready(*given: object, has_stopped_cleanly: bool) -> SigningRule:
        assert isinstance(has_stopped_cleanly, bool)
        return SigningRule(*given, has_stopped_cleanly=True)  # type: ignore[arg-type]

    monkeypatch.setattr(signers, "SigningRule", ready)


def restored_between_two_questions(grounds: Grounds, folder: Path) -> PairWorld:
    """A world in which the two build on different heads, and the signer's old record comes back between their asks."""
    world = PairWorld(grounds, 1, folder)
    host = world.host
    try:
        world.world.run(90)
        host.stop(is_clean=True)
        host.back_up(folder / "record")
        host.start()
        world.world.split({ONE, FEW}, {OTHER, MANY})
        world.world.run(3)
        given = len(host.given)
        host.cut = {ONE}
        for _ in range(2_000):
            if len(host.given) > given:
                break
            world.world.run(0.05)
        host.stop(is_clean=True)
        host.restore(folder / "record")
        host.start()
        host.cut = set()
        world.world.run(1)
    finally:
        world.world.close()
        host.stop(is_clean=False)
    return world


def slots_signed_twice(world: PairWorld) -> list[int]:
    signed = Counter(slot for slot, _ in set(world.host.given))
    return [slot for slot, count in signed.items() if count > 1]


def test_without_the_wait_a_restored_record_would_sign_a_slot_twice(
    grounds: Grounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = restored_between_two_questions(grounds, tmp_path / "sound")
    assert slots_signed_twice(sound) == []

    wait_for_nothing(monkeypatch)
    assert slots_signed_twice(restored_between_two_questions(grounds, tmp_path / "forgetful"))
