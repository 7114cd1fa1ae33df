"""What two reference nodes said to each other, and a chain of ours that stands where theirs began."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.p2p.wire.frames import pack_frame
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.store import Store
from tests.chain.networks import SMALL
from tests.chain.recorded_chains import recorded_state
from tests.snapshot.recorded import packed

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "peers"

FIRST_HEAD = 2718
"""The recorded nodes began with the state of `open-1` at this block."""


class Said(NamedTuple):
    """One recorded frame: when, by whom (`dialer` or `listener`), and what."""

    at: float
    by: str
    number: int
    payload: bytes

    @property
    def frame(self) -> bytes:
        return pack_frame(self.number, self.payload)


RESIDUAL = 788
"""Thousandths of a VIZ that fixed awards had paid beyond the supply by then."""


@cache
def conversation(name: str) -> tuple[Said, ...]:
    lines = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).splitlines()
    facts = map(json.loads, lines)
    return tuple(Said(fact["t"], fact["from"], fact["type"], bytes.fromhex(fact["payload"])) for fact in facts)


@cache
def _imported() -> tuple[Block, bytes]:
    """The head block of that state, and the file of a node that has just taken it in."""
    snapshot = Snapshot.from_bytes(packed(recorded_state("open-1", FIRST_HEAD)))
    with TemporaryDirectory() as folder:
        with Store.open(folder, STORED_TABLES, space=SMALL) as store:
            head = load(store, snapshot, TESTNET, residual=RESIDUAL)
            assert head is not None
            store.commit()
        return head, (Path(folder) / "data.mdb").read_bytes()


def chain_from_snapshot(folder: Path) -> Chain:
    """A pruned node that has just taken in the snapshot that the recorded nodes began with."""
    head, file = _imported()
    (folder / "state").mkdir()
    (folder / "state" / "data.mdb").write_bytes(file)
    store = Store.open(folder / "state", STORED_TABLES, space=SMALL)
    log = RollingBlockLog.open(folder)
    log.append(head.number, head.packed)
    log.sync()
    return Chain(store, log, TESTNET, clock=lambda: 0.0)
