"""A chain with balances in its history, and a feed of it, as processes that are worth killing.

`python -m tests.history.postgres.victims replay FOLDER LAST` or `... feed FOLDER ADDRESS`. A replay writes the
height of each commit; a feed writes a line when it begins.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.cli.shared.terminal import until_asked_to_stop
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.running import EndlessFeed
from ledgerd.history.settings import HistorySettings
from tests.chain.victims import open_for_replay, replay_into, report_to_killer
from tests.history.histories import followed
from tests.history.postgres.feeding import CHAIN

SETTINGS = HistorySettings(balances=True)
HELD = 30
"""Seconds for which a replay that is done waits to be killed."""


@contextmanager
def recording(folder: Path) -> Iterator[Chain]:
    """The chain of a folder with its history, as after a restart."""
    with open_for_replay(folder) as chain, followed(chain, folder, SETTINGS):
        yield chain


def replay(folder: Path, last: int) -> None:
    """Take recorded blocks in, and wait."""
    with recording(folder) as chain:
        report_to_killer(chain.head_number)
        replay_into(chain, folder.parent / "block_log", last, report_to_killer)
        report_to_killer(last)
        time.sleep(HELD)


def feed(folder: Path, address: str) -> None:
    """Feed until it is killed."""
    report_to_killer(0)
    with until_asked_to_stop() as stopping:
        EndlessFeed(address, HistorySource(folder, SETTINGS), SETTINGS, CHAIN, lambda _: None).run(stopping)


if __name__ == "__main__":
    if sys.argv[1] == "feed":
        feed(Path(sys.argv[2]), sys.argv[3])
    else:
        replay(Path(sys.argv[2]), int(sys.argv[3]))
