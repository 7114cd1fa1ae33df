"""The checks of `ledgerd check` on an imported state: by its import, or where that takes longer than a minute, on a
copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import islice
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

FEWEST_ENTRIES = 10_000
"""Tables with fewer, in all indexes, are sooner looked at than asked about."""

SECONDS_OF_A_CHECK = 600.0
"""Another process that takes longer for a table, beyond the time of all else, hangs."""

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
    awaited = {} if beside is None else _asked(store, beside)

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


def _asked(store: Store, beside: AskedProcesses) -> dict[Table[Any], AwaitedAnswer | None]:
    """Large tables, the largest first: so those who look at them have about as much to do."""
    sizes = {table: store.next_id(table) * (1 + len(table.indexes)) for table in STORED_TABLES}
    large = sorted((table for table in sizes if sizes[table] >= FEWEST_ENTRIES), key=sizes.__getitem__, reverse=True)
    return {table: beside.ask(checking_request(store.folder, table), len(large)) for table in large}


def _are_sound(store: Store, awaited: dict[Table[Any], AwaitedAnswer | None], beside: AskedProcesses | None) -> bool:
    """Whether all tables and their indexes agree; `Store.verify` says what does not, in several times the time."""
    with store.committed() as view:
        for table in STORED_TABLES:
            question = awaited.get(table)
            if beside is not None and question is not None:
                beside.wait_for(question, SECONDS_OF_A_CHECK)
            answer = None if question is None else question.answer
            if answer != SOUND and (answer is not None or not is_sound(view, table)):
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
