"""Feeding as tests do it: step by step, from a history that a chain or made-up events have filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import HistoryView
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.kept_facts import KeptSource
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.postgres.feeder import Feeder
from ledgerd.history.postgres.reader import PostgresHistory
from ledgerd.history.settings import HistorySettings

CHAIN = bytes(32)

ReadBlock = Callable[[int], bytes | None]


def source_of(store: EmbeddedStore, folder: Path, read: ReadBlock) -> KeptSource:
    """The kept facts of a history that is open in this process."""
    return partial(EmbeddedHistory(store.environment, LogBytes(folder / STATE_FOLDER), HistorySettings()).keeping, read)


@contextmanager
def feeding(address: str, source: KeptSource, settings: HistorySettings | None = None) -> Iterator[Feeder]:
    with Feeder.connected(address, source, settings or HistorySettings(), CHAIN) as feeder:
        yield feeder


def feed_all(feeder: Feeder, most: int = 10_000) -> int:
    """Feed until nothing is left; how many steps that took."""
    for steps in range(most):
        if not feeder.step():
            return steps
    raise AssertionError


@contextmanager
def fed_view(address: str) -> Iterator[HistoryView]:
    """What the APIs read."""
    history = PostgresHistory(address, HistorySettings())
    try:
        with history.reading() as view:
            yield view
    finally:
        history.close()
