"""The checks of `ledgerd check` on an imported state: by its import, or where that takes longer than a minute, on a
copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import lmdb
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.provenance import provenance_of, record_provenance
from ledgerd.chain.offline.invariants import faults_of_state
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.beside import SOUND, checking_request
from ledgerd.state import Store
from ledgerd.state.files.copying import copy_commit
from ledgerd.state.files.disk import Space
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import Table
from ledgerd.state.verify import is_sound
from ledgerd.supervision.asking import AskedProcesses, AwaitedAnswer

RECORDS_AT_ONCE = 1_000_000
"""A state of more records takes longer than a minute to check: 23,000 of them a second were measured."""

MOST_NAMED = 3
"""Faults that an error names."""

TABLES_BEGUN = 2
"""So many large tables each other process looks at while sums are checked: that takes about as long."""

FEWEST_ENTRIES = 10_000
"""Tables with fewer, in all indexes, are sooner looked at than asked about."""

SECONDS_OF_A_CHECK = 600.0
"""Another process that takes longer for a table, beyond the time of all else, hangs."""

Awaited = dict[Table[Any], AwaitedAnswer]

ChecksMade = Callable[[int, int], None]
"""Called with how many checks of all of them are made."""


def is_long(snapshot: Snapshot) -> bool:
    return sum(count or 0 for count in snapshot.sections.values()) > RECORDS_AT_ONCE


def require_sound(
    store: Store,
    network: ChainParameters,
    progress: ChecksMade = lambda *_: None,
    beside: AskedProcesses | None = None,
) -> None:
    """Check a state, all of which is committed. Other processes look at its large tables, if there are any."""
    large = [table for table, size in _by_size(store).items() if size >= FEWEST_ENTRIES]
    awaited = {} if beside is None else _asked(store, beside, large, TABLES_BEGUN)

    def indexes_agree(ledger: Ledger) -> Iterator[str]:
        if not _are_sound(ledger.store, awaited, beside):
            yield from ledger.store.verify()

    found = faults_of_state(Ledger(store, network), progress, indexes_agree)
    named = list(islice(found, MOST_NAMED))
    if named:
        count = len(named) + sum(1 for _ in found)
        raise SnapshotError(f"the state of the snapshot is not sound, with {count} problems: {'; '.join(named)}")
    provenance = provenance_of(store)
    if provenance is not None:
        record_provenance(store, replace(provenance, is_audited=True))


def _by_size(store: Store) -> dict[Table[Any], int]:
    """For each table, about how many entries it has in all indexes. The largest comes first, so that all processes end
    at about the same time.
    """
    sizes = {table: store.next_id(table) * (1 + len(table.indexes)) for table in STORED_TABLES}
    return dict(sorted(sizes.items(), key=itemgetter(1), reverse=True))


def _asked(store: Store, beside: AskedProcesses, tables: Iterable[Table[Any]], most_waiting: int) -> Awaited:
    asked = {table: beside.ask(checking_request(store.folder, table), most_waiting) for table in tables}
    return {table: question for table, question in asked.items() if question is not None}


def _are_sound(store: Store, awaited: Awaited, beside: AskedProcesses | None) -> bool:
    """Whether all tables and their indexes agree; `Store.verify` says what does not, in several times the time. What
    nobody was asked about yet is looked at here, unless somebody has nothing left to look at.
    """
    with store.committed() as view:
        for table, size in _by_size(store).items():
            if beside is not None and table not in awaited and size >= FEWEST_ENTRIES:
                beside.exchange()
                awaited |= _asked(store, beside, (table,), 1)
            if table not in awaited and not is_sound(view, table):
                return False
        for table, question in awaited.items():
            if beside is not None:
                beside.wait_for(question, SECONDS_OF_A_CHECK)
            if question.answer != SOUND and (question.answer is not None or not is_sound(view, table)):
                return False
    return True


def audit_copy(state: Path, folder: Path, network: ChainParameters, progress: ChecksMade = lambda *_: None) -> int:
    """Check the last commit of a state that a node may be using, on a copy in another folder; its block number."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        copy_commit(state, folder)
        with Store.open(folder, STORED_TABLES, space=Space(initial=0, min_free=1 << 24, increment=1 << 24)) as store:
            require_sound(store, network, progress)
            return Ledger(store, network).globals.head_block_number
    except (OSError, lmdb.Error) as problem:
        raise SnapshotError(f"the state cannot be copied to {folder} to be checked: {problem}") from problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)
