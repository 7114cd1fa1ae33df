"""Frames of peers that say anything at all: each seed is a node and those who come to it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.p2p.wire.messages import BlockRangeReply, GetBlockRange
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.chain.networks import SEVEN, SMALL, start_seven
from tests.fuzz.playing import Played
from tests.fuzz.target import Broken
from tests.p2p.hostile import Hostile

FRAMES_OF_A_SEED = 10_000
LATER = 4_000
"""Seconds after which all bans are over."""


class Frames:
    """A chain, copied for the node of each seed."""

    def __init__(self, folder: Path) -> None:
        self._grounds, self._folder = folder / "grounds", folder / "node"
        start_seven(self._grounds).chain.close()

    def play(self, seed: int, count: int = FRAMES_OF_A_SEED) -> Played:
        """So many frames, after each of which the node is within its bounds; then an honest peer is served."""
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._grounds, self._folder)
        with Chain.open(self._folder, SEVEN, clock=lambda: 0.0, space=SMALL) as chain:
            hostile = Hostile(chain, seed)
            while hostile.frames < count:
                hostile.go_on()
            served(hostile)
        return Played(count)


def served(hostile: Hostile) -> None:
    """An honest peer gets what it asks for."""
    hostile.talk.wait(LATER)
    peer = hostile.talk.meet("203.0.113.5")
    answers = hostile.talk.say(peer, GetBlockRange(1, 5, NO_BLOCK))
    if not answers or not isinstance(answers[0], BlockRangeReply):
        raise Broken(f"an honest peer is answered {answers!r:.300}")
    numbers = [block.number for block in answers[0].blocks]
    if numbers != [1, 2, 3, 4, 5]:
        raise Broken(f"an honest peer is sent the blocks {numbers}")
