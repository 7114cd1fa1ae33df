"""Simulated networks, one a seed."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.fuzz.playing import Played
from tests.sim.chaos import chaos
from tests.sim.grounds import Grounds
from tests.sim.invariants import Broken


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
