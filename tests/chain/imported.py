"""Recorded states, taken into stores: where a test wants a late state of a chain without its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.filling import fill
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from tests.chain.recorded_chains import light_state, network_of
from tests.snapshot.recorded import packed


@contextmanager
def imported_state(name: str, height: int, folder: Path) -> Iterator[Ledger]:
    """A ledger at a recorded height; its store is where a chain in the folder would have it."""
    network = network_of(name)
    with Store.open(folder / STATE_FOLDER, STORED_TABLES) as store:
        fill(store, Snapshot.from_bytes(packed(light_state(name, height), chain_id=network.chain_id.hex())))
        store.commit()
        yield Ledger(store, network)
