"""What it costs the chain's thread to gather what blocks change of balances and penalties, or the images of
accounts that they change, and to record it.

The blocks of a recorded chain, with four transactions each, are applied with it on and off by turns of twenty blocks,
and once more the other way round, so that each block is applied both ways. Time is that of the thread. The last line is
of all that a node does live for a block: every check, the record in the history with or without it, and a commit.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
from pathlib import Path
from statistics import median
from time import thread_time
from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer, Samplers
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, SkipFlags
from ledgerd.chain.ledger.tracing import Trace
from ledgerd.codec import codec_of
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow_with_balances
from ledgerd.history.settings import HistorySettings
from ledgerd.projections.accounts.balances import BALANCES, PENALTIES
from ledgerd.projections.accounts.images import IMAGES
from ledgerd.protocol.blocks.block import Block
from tests.chain.recorded_chains import LIKE_THE_RECORDING, advance, open_chain
from tests.recorded import recorded_blocks

CHAIN, BEGUN = "open-1", 200
TURN, COMMIT = 20, 500
ROUNDS = 5
MOST = 0.05
"""The part of the thread's time that it may cost."""


class Wanting(Observer):
    """Wants what a kind says, and does nothing with it."""

    def __init__(self, kind: Kind) -> None:
        self.trace, self.samplers = kind.trace, kind.samplers


class Kind(NamedTuple):
    """What is gathered."""

    title: str
    trace: Trace | None
    samplers: Samplers
    settings: HistorySettings


KINDS = (
    Kind("balances", BALANCES, {Block: (PENALTIES,)}, HistorySettings(balances=True)),
    Kind("images", None, {Block: (IMAGES,)}, HistorySettings(journal="accounts")),
)

MEASURED = {"signatures verified before": VERIFIED_BEFORE, "all checks": LIKE_THE_RECORDING}


def main() -> None:
    """Print the cost with and without the checks of signatures."""
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start"
        with open_chain(CHAIN, start) as chain:
            advance(chain, CHAIN, BEGUN, VERIFIED_BEFORE)
        for kind in KINDS:
            run = Path(folder) / "run"
            for title, skip in MEASURED.items():
                _tell(title, kind, [_both_ways(start, run, kind, skip) for _ in range(ROUNDS)])
            _tell("all of a live block", kind, [_live(start, run, kind.settings) for _ in range(ROUNDS)])


def _tell(title: str, kind: Kind, rounds: list[dict[bool, float]]) -> None:
    off, on = (median(each[is_on] for each in rounds) for is_on in (False, True))
    cost = median(each[True] / each[False] - 1 for each in rounds)
    print(f"{title}: {off * 1e6:.0f} us a block, {on * 1e6:.0f} with {kind.title}: {cost:+.1%} (at most {MOST:.0%})")


def _live(start: Path, folder: Path, wanted: HistorySettings) -> dict[bool, float]:
    """Seconds a block with its commit and its record in the history, without what is wanted and with it."""
    spent = {}
    for is_on in (False, True):
        shutil.copytree(start, folder)
        settings = wanted if is_on else HistorySettings()
        with open_chain(CHAIN, folder) as chain, EmbeddedStore(folder / "history", settings, chain.block_log) as store:
            follow_with_balances(chain, store, settings)
            blocks = _blocks()
            begun = thread_time()
            for block in blocks:
                chain.push_block(block, LIKE_THE_RECORDING).or_raise()
            spent[is_on] = (thread_time() - begun) / len(blocks)
        shutil.rmtree(folder)
    return spent


def _blocks() -> list[Block]:
    """The measured blocks, whose ids are known, as those of blocks that other processes have looked at before."""
    blocks = [codec_of(Block).decode(raw) for raw in recorded_blocks(CHAIN)[BEGUN:]]
    for transaction in (each for block in blocks for each in block.transactions):
        _ = transaction.id
    gc.collect()
    return blocks


def _both_ways(start: Path, folder: Path, kind: Kind, skip: SkipFlags) -> dict[bool, float]:
    """Seconds a block, with it on and off."""
    spent, count = {True: 0.0, False: 0.0}, len(recorded_blocks(CHAIN)) - BEGUN
    for parity in (0, 1):
        shutil.copytree(start, folder)
        with open_chain(CHAIN, folder) as chain:
            _apply(chain, kind, parity, skip, spent)
        shutil.rmtree(folder)
    return {is_on: seconds / count for is_on, seconds in spent.items()}


def _apply(chain: Chain, kind: Kind, parity: int, skip: SkipFlags, spent: dict[bool, float]) -> None:
    blocks, observer = _blocks(), Wanting(kind)
    for place in range(0, len(blocks), TURN):
        is_on = (place // TURN + parity) % 2 == 1
        if is_on:
            chain.observe(observer)
        begun = thread_time()
        for block in blocks[place : place + TURN]:
            chain.push_block(block, skip, commit=False).or_raise()
        spent[is_on] += thread_time() - begun
        if is_on:
            chain.stop_observing(observer)
        if place % COMMIT == 0:
            chain.commit()


if __name__ == "__main__":
    main()
