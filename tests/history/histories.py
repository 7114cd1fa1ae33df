"""Histories as tests use them: a chain that tells one, a reader of it, and answers as the reference gives them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import lmdb

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import HistoryView
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import follow_with_balances
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.tables import Tables
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import MAX_DATABASES, LmdbTransaction, Space
from tests.recorded import ANSWERED, FOLDER

HISTORY_FOLDER = "history"
SMALL = Space(initial=1 << 22, min_free=0, increment=1 << 21)
"""So small that it has to grow in the middle of most tests."""

Question = tuple[str, int, int]


def open_store(chain: Chain, folder: Path, settings: HistorySettings | None = None) -> EmbeddedStore:
    """The history of a chain in a folder; it is not told anything yet."""
    return EmbeddedStore(folder / HISTORY_FOLDER, settings or HistorySettings(), chain.block_log, SMALL)


@contextmanager
def followed(chain: Chain, folder: Path, settings: HistorySettings | None = None) -> Iterator[EmbeddedStore]:
    """A history in step with a chain."""
    with open_store(chain, folder, settings) as store:
        follow_with_balances(chain, store, settings or HistorySettings())
        yield store


@contextmanager
def view_of(store: EmbeddedStore, folder: Path) -> Iterator[HistoryView]:
    """What a reader beside the writer sees, in the same process."""
    history = EmbeddedHistory(store.environment, LogBytes(folder / STATE_FOLDER), HistorySettings())
    with history.reading() as view:
        yield view


@contextmanager
def closed_view(folder: Path) -> Iterator[HistoryView]:
    """What a reader sees that opens the files by itself."""
    history = EmbeddedHistory.open(folder / HISTORY_FOLDER, folder / STATE_FOLDER, HistorySettings())
    with history, history.reading() as view:
        yield view


@contextmanager
def written(folder: Path) -> Iterator[tuple[LmdbTransaction, Tables]]:
    """The tables of the history in a folder, to be changed by hand."""
    with (
        lmdb.Environment(str(folder / HISTORY_FOLDER), max_dbs=MAX_DATABASES, map_size=1 << 28) as environment,
        environment.begin(write=True) as transaction,
    ):
        yield transaction, Tables.open(environment, transaction, create=False)


@cache
def recorded_histories(chain: str) -> dict[Question, str]:
    """What the reference answered to `get_account_history`: account, from and limit, then the whole answer."""
    answers = {}
    packed = (FOLDER / chain / f"account-histories-{ANSWERED[chain]}.jsonl.xz").read_bytes()
    for line in lzma.decompress(packed).decode("utf-8", "surrogateescape").splitlines():
        fact = json.loads(line)
        account, start, limit = fact["request"]["params"][2]
        answers[account, start, limit] = fact["answer"]
    return answers


def shown_operations(view: HistoryView, block: int, *, only_virtual: bool = False) -> str:
    """The operations of a block as JSON text."""
    return f"[{','.join(view.operations_of(block, only_virtual=only_virtual))}]"


def whole_history(view: HistoryView, account: str) -> list[Any]:
    """All entries of an account: sequence and text."""
    entries = view.range_of(AccountName(account))
    if entries is None:
        return []
    return list(enumerate(view.entries_of(AccountName(account), *entries), entries.first))
