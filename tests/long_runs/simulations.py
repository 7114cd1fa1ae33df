"""Simulated networks, dead ends in them, pairs of nodes with one signer, and hand-overs of a validator, one a seed."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fuzz.playing import Played
from tests.sim.chaos import chaos
from tests.sim.grounds import Grounds
from tests.sim.handovers import hand_over_and_back
from tests.sim.invariants import Broken
from tests.sim.pairs import pair
from tests.sim.wedges import MOST_SECONDS, wedge


class Simulations:
    """What all of them begin with."""

    def __init__(self, folder: Path) -> None:
        self._grounds = Grounds(folder / "grounds")
        self._folder = folder / "world"

    def play(self, seed: int) -> Played:
        """A network of this seed, in which all agree in the end; `scripts/simulate 1 SEED` plays it too.

        It counts where hostile peers were in it.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        ending = chaos(self._grounds, seed, self._folder)
        if not ending.is_good:
            raise Broken("the nodes never agreed")
        return Played(min(1, ending.strangers))


class Signers:
    """What all pairs of nodes with one signer begin with."""

    def __init__(self, folder: Path) -> None:
        self._grounds = Grounds(folder / "grounds")
        self._folder = folder / "world"

    def play(self, seed: int) -> Played:
        """Two nodes with one signer: no slot signed twice, and none missed that was owed; counted are those owed."""
        shutil.rmtree(self._folder, ignore_errors=True)
        return Played(1, pair(self._grounds, seed, self._folder).owed)


class Handovers:
    """What all hand-overs of a validator begin with."""

    def __init__(self, folder: Path) -> None:
        self._grounds = Grounds(folder / "grounds")
        self._folder = folder / "world"

    def play(self, seed: int) -> Played:
        """A validator goes over and back, twice: no slot is signed twice, none missed with a new key; counted are its
        blocks.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        return Played(1, hand_over_and_back(self._grounds, seed, self._folder).made)


class Wedges:
    """What all dead ends begin with."""

    def __init__(self, folder: Path) -> None:
        self._grounds = Grounds(folder / "grounds")
        self._folder = folder / "world"

    def play(self, seed: int) -> Played:
        """A node that gets into a dead end, which the seed chooses, and leaves it by itself within ten minutes."""
        shutil.rmtree(self._folder, ignore_errors=True)
        ending = wedge(self._grounds, seed, self._folder)
        if not 0 <= ending.seconds <= MOST_SECONDS:
            steps = ", ".join(step.value for step in ending.steps) or "no step"
            raise Broken(f"in step after {ending.seconds} s, with {steps}")
        return Played(1)
