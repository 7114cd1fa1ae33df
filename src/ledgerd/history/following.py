"""Keeping a history in step with a chain: it records each commit before the state is committed, and is compared at the
start.

So a kill can leave it ahead of the state, never behind: surplus blocks are removed, and after an interrupted fork
switch the chain undoes and applies its last blocks once more, with their events.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ledgerd.chain.chain import Chain, Recorder
from ledgerd.chain.events import Event
from ledgerd.history.embedded import EmbeddedStore
from ledgerd.history.errors import REMEDY, HistoryDamaged
from ledgerd.history.interface import HistoryStore
from ledgerd.history.settings import HistorySettings
from ledgerd.state.disk import Space

log = logging.getLogger(__name__)

HISTORY_FOLDER = "history"
"""The folder, in the data directory."""

DAMAGED_SUFFIX = ".damaged"
"""What the folder of a damaged history is renamed to; there is room for one."""


def open_history(
    chain: Chain,
    folder: Path,
    settings: HistorySettings,
    space: Space = Space(),  # noqa: B008 - immutable
) -> EmbeddedStore:
    """Open the embedded history of a chain, in step with it.

    A damaged one is put aside, and the chain goes on with an empty one.
    """
    if chain.is_rolling:
        settings = replace(settings, keep_blocks=True)
    try:
        return _opened(chain, folder, settings, space)
    except HistoryDamaged as problem:
        aside = folder.with_name(folder.name + DAMAGED_SUFFIX)
        log.error("%s; it was moved to %s, and an empty one is started", problem, aside)  # noqa: TRY400 - says it all
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)
    return _opened(chain, folder, settings, space)


def _opened(chain: Chain, folder: Path, settings: HistorySettings, space: Space) -> EmbeddedStore:
    store = EmbeddedStore(folder, settings, chain.block_log, space)
    try:
        follow(chain, store)
    except BaseException:
        store.close()
        raise
    return store


def follow(chain: Chain, store: HistoryStore) -> None:
    """Bring a history into step with a chain, and keep it there."""
    common = _last_in_common(chain, store)
    if common < store.head_number:
        log.info("the history is cut back from block %d to block %d", store.head_number, common)
        store.truncate(common)
    chain.precede(_until_damaged(store))
    head = chain.head_number
    if common < head:
        if common and common >= chain.irreversible:
            chain.retell(common)
        elif common:
            log.warning("the history lacks the operations of blocks %d to %d: %s", common + 1, head, REMEDY)
        else:
            log.info("the history begins behind block %d; for what was before, run `ledgerd history rebuild`", head)


def _until_damaged(store: HistoryStore) -> Recorder:
    """What records; the chain goes on without it when the store turns out to be damaged."""
    damage: list[HistoryDamaged] = []

    def record(events: Sequence[Event]) -> None:
        if damage:
            return
        try:
            store.record(events)
        except HistoryDamaged as problem:
            damage.append(problem)
            log.error("the history stops: %s", problem)  # noqa: TRY400 - says it all

    return record


def _last_in_common(chain: Chain, store: HistoryStore) -> int:
    """The last block that the history knows as the chain does."""
    number = min(chain.head_number, store.head_number)
    while number > chain.irreversible:
        block = chain.block_at(number)
        if store.block(number) == (None if block is None else block.packed):
            break
        number -= 1
    return number
