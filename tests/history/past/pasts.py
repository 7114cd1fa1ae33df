"""Nodes whose log and history begin in the middle of a recorded chain, as those do that began with a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import open_history
from ledgerd.history.past.handing_over import PastAcceptance
from ledgerd.history.past.recording import PastHistory
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from tests.archive.files import without_past, write_archive
from tests.chain.recorded_chains import advance, network_of, open_chain
from tests.history.histories import SMALL
from tests.recorded import recorded_blocks

ARCHIVE = "block-archive"
SETTINGS = HistorySettings(balances=True)


def born_of_snapshot(folder: Path, name: str, snapshot: int, height: int) -> None:
    """A chain and its history, which begins after a block, and the archive of all blocks before."""
    without_past(folder, name, snapshot, _first_kept(snapshot))
    with node_of(folder, name) as (chain, _):
        advance(chain, name, height)
    write_archive(folder / ARCHIVE, recorded_blocks(name)[:snapshot], 100)


def _first_kept(snapshot: int) -> int:
    """Some of the blocks before the snapshot are in the log."""
    return max(2, snapshot // 2)


@contextmanager
def node_of(folder: Path, name: str, settings: HistorySettings = SETTINGS) -> Iterator[tuple[Chain, EmbeddedStore]]:
    """What a node has open."""
    with open_chain(name, folder) as chain:
        PastAcceptance(folder, settings, SMALL).finish()
        with open_history(chain, folder / HISTORY_FOLDER, settings, SMALL) as store:
            yield chain, store


@contextmanager
def past_of(folder: Path, name: str, settings: HistorySettings = SETTINGS) -> Iterator[PastHistory]:
    """What records the past beside the node."""
    log = RollingBlockLogReader.open(folder / STATE_FOLDER)
    log.earlier = archive = ArchivedBlocks(folder / ARCHIVE)
    wanted = settings.of_log(is_rolling=True)
    past = PastHistory(folder, network_of(name), wanted, log, SMALL)
    try:
        yield past
    finally:
        for each in (past, archive, log):
            each.close()


def taken(folder: Path, name: str, settings: HistorySettings = SETTINGS) -> bool:
    """Whether a node takes what is offered."""
    with node_of(folder, name, settings) as (chain, store):
        return PastAcceptance(folder, settings, SMALL).accept(chain, store)
