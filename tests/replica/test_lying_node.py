"""A node that lies to its replica: what it sends does not stay in the way of an honest one, and fills nothing up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import msgspec
import pytest

from ledgerd.basics.framing.frames import read_frame
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.state_blocks import CHAIN_ID
from ledgerd.replica.copies.following import FollowStatus, Replica
from ledgerd.replica.copies.state_copy import POSITION_KEY
from ledgerd.replica.messages import (
    MOST_HELLO,
    LoggedBlocks,
    MessageKind,
    NotServed,
    ReplicaHello,
    StateBegins,
    StateEnds,
    Welcome,
    packed,
    packed_block_info,
    read,
)
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.rpc.blocks.records import FILE_NAME, RECORD_BYTES
from ledgerd.state.files.change_frames import POSITION, RecordFrame, RecordHead, framed, opened
from ledgerd.state.files.disk import NEARLY_FULL
from ledgerd.state.files.header import FORMAT, FORMAT_KEY, LAYOUT_KEY, REVISION_KEY, VALUE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import layout
from ledgerd.state.views.serving_status import MOST_BYTES, SERVING_STATUS_FILE, ServingStatus, write_serving_status
from tests.recorded import recorded_blocks

CHAIN = b"c" * 32
PLACE, NEXT = POSITION.pack(b"node run", 7), POSITION.pack(b"node run", 8)
LAYOUT_VALUE = layout(STORED_TABLES).encode()
ROWS = {
    FORMAT_KEY: FORMAT,
    LAYOUT_KEY: LAYOUT_VALUE,
    REVISION_KEY: msgspec.msgpack.encode(5),
    VALUE + CHAIN_ID.encode(): CHAIN,
    POSITION_KEY: PLACE,
}
"""The header of an honest state, which has no other rows."""
CHAIN_KEY = VALUE + CHAIN_ID.encode()


class Told(NamedTuple):
    """What became of a connection."""

    problem: str
    hello: ReplicaHello


def welcome(head: int = 5) -> bytes:
    return packed(MessageKind.WELCOME, Welcome(CHAIN, head, 1))


def whole(rows: dict[bytes, bytes], size: int = 1 << 20, position: bytes = PLACE, more: bytes = b"") -> bytes:
    """A whole state of these rows of the header."""
    begins = packed(MessageKind.STATE, StateBegins(position, 5, size))
    header = framed(MessageKind.ROWS, msgspec.msgpack.encode({0: rows}))
    return begins + more + header + packed(MessageKind.STATE_END, StateEnds(position))


def changes(rows: dict[bytes, bytes | None]) -> bytes:
    """A record that changes these rows of the header."""
    part = framed(RecordFrame.PART, msgspec.msgpack.encode({0: rows}))
    return RecordHead(PLACE, NEXT, 6, len(part)).packed + part


class Followed(Replica):
    """A replica that is connected to the end of a pair of sockets."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            StreamSettings(read_stream_place(f"unix:{folder / 'none'}")), folder / STATE_FOLDER, self._hear
        )
        self._until = 0

    def _connected(self) -> socket.socket:
        return self._ours

    def _hear(self, status: FollowStatus) -> None:
        if status.is_sound and status.head == self._until:
            self._until = 0
            self._theirs.shutdown(socket.SHUT_WR)

    def meet(self, answer: bytes, until: int = 0) -> Told:
        """One connection: the node answers the hello with these bytes, and ends it, perhaps only after a commit."""
        self._ours, self._theirs = socket.socketpair()
        self._until = until

        def lie() -> None:
            said.append(read(opened(read_frame(self._theirs.recv, MOST_HELLO) or b"")[1], ReplicaHello))
            with suppress(OSError):  # the replica has enough of it
                self._theirs.sendall(answer)
                if not until:
                    self._theirs.shutdown(socket.SHUT_WR)

        said: list[ReplicaHello] = []
        thread = threading.Thread(target=lie, daemon=True)
        thread.start()
        problem = self._one_connection()
        thread.join()
        self._theirs.close()
        return Told(problem, said[0])


@contextmanager
def following(folder: Path) -> Iterator[Followed]:
    replica = Followed(folder)
    yield replica
    replica.stop()
    replica.run()


def is_followed_again(folder: Path) -> None:
    """An honest node is followed, by the replica as it is after a new start."""
    with following(folder) as replica:
        told = replica.meet(welcome() + whole(ROWS), until=5)
        assert told.problem == "the node has ended it"
        assert len(packed(MessageKind.HELLO, told.hello)) <= MOST_HELLO
        assert (replica.copy.position, replica.copy.head) == (PLACE, 5)


def test_an_honest_node_is_followed(tmp_path: Path) -> None:
    is_followed_again(tmp_path)
    with following(tmp_path) as replica:
        six = changes({POSITION_KEY: NEXT, REVISION_KEY: msgspec.msgpack.encode(6)})
        told = replica.meet(welcome() + six, until=6)
        assert told.hello.position == PLACE
        assert (replica.copy.position, replica.copy.head) == (NEXT, 6)


BAD_ROWS: list[dict[bytes, bytes]] = [
    {REVISION_KEY: b"\xc1"},
    {REVISION_KEY: b"\xa1x"},
    {REVISION_KEY: b""},
    {REVISION_KEY: msgspec.msgpack.encode(-1)},
    {REVISION_KEY: msgspec.msgpack.encode(1 << 32)},
    {CHAIN_KEY: b"d" * 32},
    {CHAIN_KEY: b""},
    {FORMAT_KEY: b"another"},
    {LAYOUT_KEY: b"another"},
]


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_a_state_with_a_header_that_no_node_writes_is_not_taken(bad: dict[bytes, bytes], tmp_path: Path) -> None:
    with following(tmp_path) as replica:
        assert "header" in replica.meet(welcome() + whole({**ROWS, **bad})).problem
        assert (replica.copy.position, replica.status.is_sound) == (b"", False)
    is_followed_again(tmp_path)


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_changes_to_such_a_header_are_not_taken_either(bad: dict[bytes, bytes], tmp_path: Path) -> None:
    is_followed_again(tmp_path)
    with following(tmp_path) as replica:
        assert "header" in replica.meet(welcome() + changes({POSITION_KEY: NEXT, **bad}), until=9).problem
        assert replica.copy.position == PLACE
    is_followed_again(tmp_path)


@pytest.mark.parametrize("position", [b"", b"short", b"x" * 5_000])
def test_a_position_that_no_node_has_is_not_kept(position: bytes, tmp_path: Path) -> None:
    with following(tmp_path) as replica:
        assert (
            "position" in replica.meet(welcome() + whole({**ROWS, POSITION_KEY: position}, position=position)).problem
        )
    is_followed_again(tmp_path)


@pytest.mark.parametrize("first", [0, 1 << 32, 1 << 57, (1 << 64) - 1])
def test_records_of_blocks_that_cannot_be_are_not_written(first: int, tmp_path: Path) -> None:
    with following(tmp_path) as replica:
        assert "records of block" in replica.meet(welcome() + packed_block_info(first, bytes(RECORD_BYTES))).problem
    is_followed_again(tmp_path)


def test_a_long_reason_is_cut(tmp_path: Path) -> None:
    refusal = packed(MessageKind.REFUSED, NotServed("no, and \x1b[2J" * 500_000))
    with following(tmp_path) as replica:
        told = replica.meet(refusal)
        assert told.problem.startswith("the node is not followed: no, and \\x1b[2J")
        write_serving_status(tmp_path, ServingStatus(replica.status.refusal))
        assert (tmp_path / SERVING_STATUS_FILE).stat().st_size < MOST_BYTES
        assert len(told.problem) < MOST_BYTES


def rows_of(number: int, size: int, count: int) -> bytes:
    """Rows of a database whose values have so many bytes."""
    rows = {key.to_bytes(8, "big"): bytes(size) for key in range(count)}
    return framed(MessageKind.ROWS, msgspec.msgpack.encode({number: rows}))


def test_a_state_is_no_larger_in_the_file_than_the_node_has_said(tmp_path: Path) -> None:
    """A value of half a page takes a whole one: what was sent is less than what it needs."""
    more = rows_of(1, 2_100, 700)
    assert len(more) < 1.5 * (1 << 20)
    with following(tmp_path) as replica:
        assert "larger than it was said" in replica.meet(welcome() + whole(ROWS, more=more)).problem
    is_followed_again(tmp_path)


def test_a_header_is_not_kept_in_memory_without_end(tmp_path: Path) -> None:
    more = rows_of(0, 1_000, 1_100)
    with following(tmp_path) as replica:
        assert "a header of" in replica.meet(welcome() + whole(ROWS, 1 << 30, more=more)).problem
    is_followed_again(tmp_path)


@pytest.mark.parametrize("size", [1 << 50, (1 << 64) - 1, -(1 << 62)])
def test_a_state_for_which_there_is_no_room_leaves_the_former_one(size: int, tmp_path: Path) -> None:
    is_followed_again(tmp_path)
    with following(tmp_path) as replica:
        assert replica.meet(welcome() + whole(ROWS, size)).problem != "the node has ended it"
    with following(tmp_path) as replica:
        assert replica.copy.position == PLACE


def test_a_node_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_followed_again(tmp_path)
    six = changes({POSITION_KEY: NEXT, REVISION_KEY: msgspec.msgpack.encode(6)})
    blocks = packed(MessageKind.BLOCKS, LoggedBlocks(1, (recorded_blocks("open-2")[0],)))
    records = packed_block_info(1, bytes(RECORD_BYTES))
    with monkeypatch.context() as full, following(tmp_path) as replica:
        free = NEARLY_FULL - 1
        full.setattr("ledgerd.replica.copies.state_copy.shutil.disk_usage", lambda _: SimpleNamespace(free=free))
        for each in (six, blocks, records):
            assert "MiB are free in" in replica.meet(welcome() + each, until=6).problem
        assert (replica.copy.position, replica.blocks.head) == (PLACE, 0)
    with following(tmp_path) as replica:
        replica.meet(welcome() + blocks + records + six, until=6)
        assert (replica.copy.position, replica.blocks.head) == (NEXT, 1)


def test_records_of_blocks_that_a_lying_node_has_left_go_with_its_log(tmp_path: Path) -> None:
    far = packed_block_info(1 << 20, bytes(RECORD_BYTES))
    with following(tmp_path) as replica:
        replica.meet(welcome() + far)
        replica.meet(packed(MessageKind.WELCOME, Welcome(CHAIN, 5, 4)))
    assert (tmp_path / STATE_FOLDER / FILE_NAME).stat().st_size == 0
