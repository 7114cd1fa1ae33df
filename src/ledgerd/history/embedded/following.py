"""Keeps a history consistent with a chain. It records each commit before the state is committed, so that after a kill
it may be ahead, never behind: surplus blocks are removed at the start.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ledgerd.basics.closing import on_error
from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import NO_SAMPLERS, Observer, Samplers
from ledgerd.chain.ledger.events import Event
from ledgerd.chain.ledger.tracing import Trace
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.errors import REMEDY, HistoryDamaged, HistoryNewer
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.tables import HISTORY
from ledgerd.projections.accounts.balances import BALANCES, PENALTIES, balances_in, penalties_in
from ledgerd.projections.accounts.images import IMAGES, images_in
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.conversion import Conversion, convert_store
from ledgerd.state.files.disk import Space

log = logging.getLogger(__name__)

DAMAGED_SUFFIX = ".damaged"

HISTORY_STEPS: tuple[Conversion, ...] = ()
"""Conversions to each format after that of version 1.0.0."""


def open_history(
    chain: Chain,
    folder: Path,
    settings: HistorySettings,
    space: Space = Space(),  # noqa: B008 - immutable
) -> EmbeddedStore:
    """The embedded history of a chain, consistent with it: a damaged one is renamed, an empty one begun. One of a newer
    version is refused as it is (`HistoryNewer`).
    """
    settings = settings.of_log(is_rolling=chain.is_rolling)
    convert_store(folder, HISTORY, HISTORY_STEPS)
    try:
        return _opened(chain, folder, settings, space)
    except HistoryNewer:
        raise
    except HistoryDamaged as problem:
        aside = folder.with_name(folder.name + DAMAGED_SUFFIX)
        log.error(  # noqa: TRY400 - says all
            "%(reason)s; it was moved to %(folder)s, and an empty one is started", {"reason": problem, "folder": aside}
        )
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)
    return _opened(chain, folder, settings, space)


def _opened(chain: Chain, folder: Path, settings: HistorySettings, space: Space) -> EmbeddedStore:
    store = EmbeddedStore(folder, settings, chain.block_log, space)
    with on_error(store.close):
        follow_with_balances(chain, store, settings)
    return store


def follow_with_balances(chain: Chain, store: EmbeddedStore, settings: HistorySettings) -> None:
    """Also record balances and images of accounts, if wanted: from the head on, unless they are recorded up to it."""
    has_journal = settings.journal != "none"
    samplers = (*(PENALTIES,) * settings.balances, *(IMAGES,) * has_journal)
    follow(chain, store, BALANCES if settings.balances else None, {Block: samplers})
    is_known = store.balances_begin is not None and store.head_number == chain.head_number
    if settings.balances and not is_known:
        with chain.committed() as state:
            store.begin_balances(chain.head_number, list(balances_in(state)), list(penalties_in(state)))
        log.info("balances are recorded from the block after %(block)d on", {"block": chain.head_number})
    if has_journal and (store.accounts_begin is None or store.head_number != chain.head_number):
        with chain.committed() as state:
            store.begin_journal(chain.head_number, partial(images_in, state))
        log.info("accounts are recorded from the block after %(block)d on", {"block": chain.head_number})


def follow(chain: Chain, store: EmbeddedStore, trace: Trace | None = None, samplers: Samplers = NO_SAMPLERS) -> None:
    common = last_in_common(chain, store)
    if common < store.head_number:
        log.info(
            "the history is cut back from block %(block)d to block %(common)d",
            {"block": store.head_number, "common": common},
        )
        store.truncate(common)
    chain.observe(HistoryRecorder(store, trace, samplers))
    head = chain.head_number
    if common < head:
        if common and common >= chain.irreversible:
            chain.apply_again(common)
        elif common:
            log.warning(
                "the history lacks the operations of blocks %(first)d to %(last)d: %(remedy)s",
                {"first": common + 1, "last": head, "remedy": REMEDY},
            )
        else:
            log.info(
                "the history begins after block %(block)d; for what was before, run `ledgerd history rebuild`",
                {"block": head},
            )


class HistoryRecorder(Observer):
    """Records what a chain does, until the store is damaged; the chain goes on then."""

    def __init__(self, store: EmbeddedStore, trace: Trace | None, samplers: Samplers) -> None:
        self.trace, self.samplers = trace, samplers
        self._store = store
        self._is_damaged = False

    def committing(self, events: Sequence[Event]) -> None:
        if self._is_damaged:
            return
        try:
            self._store.record(events)
        except HistoryDamaged as problem:
            self._is_damaged = True
            log.error("the history stops: %(reason)s", {"reason": problem})  # noqa: TRY400 - says it all


def last_in_common(chain: Chain, store: EmbeddedStore) -> int:
    number = min(chain.head_number, store.head_number)
    while number > chain.irreversible:
        block = chain.block_at(number)
        if store.block(number) == (None if block is None else block.packed):
            break
        number -= 1
    return number
