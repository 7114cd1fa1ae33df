"""Damaged snapshots: files, states with a checksum that fits them, and frames of the protocol that fetches them.

What is taken in is written out again, and read as the same.
"""

from __future__ import annotations

import copy
import shutil
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ledgerd.codec.json.text import dumps
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.frames import (
    MAX_REQUEST,
    AccessDenied,
    DataReply,
    DataRequest,
    InfoReply,
    InfoRequest,
    MessageReader,
    NoSnapshot,
    ProtocolFault,
    SnapshotMessage,
)
from ledgerd.snapshot.exchange.frames import packed as packed_frame
from ledgerd.snapshot.file.container import StateWriter
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Space, Store
from ledgerd.state.objects import STORED_TABLES
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Broken
from tests.snapshot.recorded import packed, small_state

SMALL = Space(initial=1 << 24, min_free=0, increment=1 << 22)
WORDS = (
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-1", b"0", b"1e400", b"9223372036854775808"),
    *(b"\xff", b"\\ud800", b"\x00", b'"1.000 VIZ"', b"[" * 3_000, b"18446744073709551615", b"4294967296"),
)
ODD_VALUES: tuple[Any, ...] = (
    0,
    1,
    -1,
    1 << 31,
    1 << 32,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    1.5,
    "",
    "x",
    None,
    True,
    [],
    {},
    [[]],
    "-1",
)
FRAMES: tuple[SnapshotMessage, ...] = (
    InfoRequest(),
    InfoReply(120, NO_BLOCK, bytes(32), 5_000),
    DataRequest(120, 4_096, 1_000),
    DataReply(4_096, b"part" * 20, is_last=False),
    DataReply(0, b"", is_last=True),
    NoSnapshot(),
    AccessDenied(3),
)


class Damaged(NamedTuple):
    """A file, or frames of the protocol."""

    is_file: bool
    is_sealed: bool
    """Whether a checksum in it is that of the sound file."""
    data: bytes


@cache
def sound() -> tuple[bytes, bytes]:
    """A file, and the text of its state."""
    state = small_state()
    return packed(state), dumps(state).encode("utf-8", "surrogateescape")


class Snapshots:
    """What a node begins with, or is sent when it asks for that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "state"
        self._records = list(Snapshot.from_bytes(sound()[0]).records())

    def make(self, random: Random) -> Damaged:
        chance = random.random()
        if chance < 0.2:
            stream = b"".join(map(packed_frame, random.choices(FRAMES, k=3)))
            return Damaged(False, False, damaged(random, stream))
        if chance < 0.4:
            return Damaged(True, True, damaged(random, sound()[0]))
        if chance < 0.6:
            return Damaged(True, False, _repacked(damaged(random, sound()[1], WORDS)))
        return Damaged(True, False, _changed(random))

    def survive(self, given: Damaged) -> bool:
        if not given.is_file:
            return survive_frames(given.data)
        try:
            snapshot = Snapshot.from_bytes(given.data)
            if given.is_sealed and list(snapshot.records()) != self._records:
                raise Broken("other records under the same checksum")
            first = self._taken_in(snapshot)
            second = self._taken_in(Snapshot.from_bytes(first))
        except SnapshotError:
            return False
        if first != second:
            raise Broken("what was written is read as something else")
        return True

    def _taken_in(self, snapshot: Snapshot) -> bytes:
        """Load a snapshot into a new store; the state of that, written as a snapshot."""
        shutil.rmtree(self._folder, ignore_errors=True)
        with Store.open(self._folder, STORED_TABLES, space=SMALL) as store:
            head = load(store, snapshot, TESTNET)
            file = BytesIO()
            export(store, file, Occasion(TESTNET.chain_id, 0, head))
        return file.getvalue()


def _repacked(text: bytes, **header: Any) -> bytes:
    """A file of this state under the header of the sound one, but for the checksum and what is given."""
    writer = StateWriter()
    writer.add(text.decode("utf-8", "surrogateescape"))
    members = Snapshot.from_bytes(sound()[0]).header | {"payload_checksum": writer.checksum} | header
    return b"".join(writer.finish(dumps(members)))


def _changed(random: Random) -> bytes:
    """A file of a state of which a few members have other values."""
    state = copy.copy(_state())
    for _ in range(1 + int(random.random() * 2)):
        name = random.choice(list(state))
        rows = state[name]
        if not isinstance(rows, list) or not rows or random.random() < 0.05:
            state[name] = random.choice((*ODD_VALUES, rows))
            continue
        rows = state[name] = list(rows)
        place, chance = random.randrange(len(rows)), random.random()
        if chance < 0.1:
            del rows[place]
        elif chance < 0.2:
            rows.append(rows[place])
        else:
            rows[place] = _changed_value(random, rows[place])
    counts = {name: len(rows) for name, rows in state.items() if isinstance(rows, list)}
    return _repacked(dumps(state).encode("utf-8", "surrogateescape"), object_counts=counts)


def _changed_value(random: Random, value: Any) -> Any:
    """The same with something in it that is odd, or missing."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        if random.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return value | {name: _changed_value(random, value[name])}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [*value[:place], _changed_value(random, value[place]), *value[place + 1 :]]
    if isinstance(value, int) and random.random() < 0.4:
        return value + random.choice((-1, 1))
    return random.choice(ODD_VALUES)


@cache
def _state() -> dict[str, Any]:
    return small_state()


def survive_frames(data: bytes) -> bool:
    """Whether all frames were messages; each is written as it was read."""
    reader = MessageReader(MAX_REQUEST)
    reader.feed(data)
    try:
        while (message := reader.next()) is not None:
            again = MessageReader(MAX_REQUEST)
            again.feed(packed_frame(message))
            if again.next() != message:
                raise Broken(f"{message!r} is written as something else")
    except ProtocolFault:
        return False
    return True
