"""Rebuild of a history by a replay into a temporary chain, beside the old one; an interrupted rebuild is continued."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.replay import reapply
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow_with_balances
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.disk import Space

REBUILD_FOLDER = "rebuild"
WANTED = "wanted.json"
"""The settings of an interrupted rebuild; without it, or with other settings, the rebuild begins at the first block."""


class ChainSource:
    """All blocks of a chain, also those that are not in its log yet."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    @property
    def head_number(self) -> int:
        return self._chain.head_number

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        following = first
        for number, packed in self._chain.block_log.scan(first, min(last, self._chain.irreversible)):
            if number != following:
                break
            yield number, packed
            following += 1
        for number in range(following, last + 1):
            packed_block = self._chain.packed_at(number)
            if packed_block is None:
                raise OperatorError(
                    f"block {number} is not in the block log, so what happened before it cannot be told: "
                    "a chain that began with a snapshot has no older blocks"
                )
            yield number, packed_block


def rebuild(
    chain: Chain,
    data_dir: Path,
    settings: HistorySettings,
    *,
    space: Space | None = None,
    progress: Callable[[int], None] = lambda _height: None,
) -> int:
    """Record the history anew, from a chain that is open for writing, so no node runs; how many blocks it took."""
    folder = data_dir / REBUILD_FOLDER
    _prepare(folder, settings)
    with (
        Chain.open(folder, chain.network, clock=time.monotonic, space=space) as replayed,
        EmbeddedStore(folder / HISTORY_FOLDER, settings, replayed.block_log, space or Space()) as store,
    ):
        follow_with_balances(replayed, store, settings)
        while replayed.head_number and not chain.is_on_trunk(replayed.head_id):
            replayed.pop_block()  # the node has run in between, and has switched to another branch
        progress(replayed.head_number)
        count = reapply(replayed, ChainSource(chain), progress)
    (folder / WANTED).unlink()
    target = data_dir / HISTORY_FOLDER
    shutil.rmtree(target, ignore_errors=True)
    (folder / HISTORY_FOLDER).rename(target)
    shutil.rmtree(folder)
    return count


def _prepare(folder: Path, settings: HistorySettings) -> None:
    wanted, file = msgspec.json.encode(settings), folder / WANTED
    if file.exists() and file.read_bytes() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    file.write_bytes(wanted)
