"""A replica has what its node has, byte for byte, whatever happens to either of them or to the line between them."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import lmdb
import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.codec import codec_of
from ledgerd.projections.kept import FOLDER
from ledgerd.protocol.blocks.block import Block
from ledgerd.replica.copies.copied_file import CopiedFile
from ledgerd.replica.copies.following import Replica
from ledgerd.replica.messages import MessageKind, NewHead, Welcome, packed
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.state.files.change_frames import MOST_FRAME, RecordFrame, RecordHead, framed
from ledgerd.state.files.disk import LmdbTransaction
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from tests.chain.recorded_chains import LIKE_THE_RECORDING, network_of
from tests.chain.replays import copy_replayed
from tests.recorded import ALL_CHAINS, recorded_blocks
from tests.replica.nodes import RunningReplica, ServedNode, assert_equal

USUAL = {"open-2": 330, "open-pm2": 200}
"""Two chains, each followed from a height at which others use it too."""
CHAINS = dict.fromkeys(ALL_CHAINS, 1) if os.environ.get("EVERY_CHAIN") else USUAL
"""EVERY_CHAIN=1 has replicas follow each recorded chain from its first block to its last."""
FOLLOWED = 90
"""Blocks that are followed in a usual run."""

DIFFERS = "is not that of the node"
LOADED = "is here"
"""A whole state was loaded."""


def blocks_of(name: str, first: int, last: int) -> list[Block]:
    return [codec_of(Block).decode_exactly(packed) for packed in recorded_blocks(name)[first - 1 : last]]


def loads(caplog: pytest.LogCaptureFixture) -> int:
    return sum(LOADED in record.getMessage() for record in caplog.records)


@pytest.fixture(autouse=True)
def _hear(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ledgerd.replica")


@pytest.mark.parametrize("name", CHAINS)
def test_records_are_equal_after_undone_blocks_a_cut_line_and_restarts(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    start = CHAINS[name]
    last = ALL_CHAINS[name] if start == 1 else start + FOLLOWED
    if start > 1:
        copy_replayed(name, start, tmp_path / "node")
    with ServedNode(tmp_path / "node", network_of(name)) as node:
        node.push(blocks_of(name, node.chain.head_number + 1, start), skip=LIKE_THE_RECORDING)
        node.serve()
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            replica.wait_for_head(start)
            node.push(blocks_of(name, start + 1, start + 30), skip=LIKE_THE_RECORDING)
            left = max(node.chain.irreversible, start + 27)
            while node.chain.head_number > left:
                node.chain.pop_block()
            replica.wait_for_head(left)
            node.push(blocks_of(name, left + 1, start + 40), batch=5, skip=LIKE_THE_RECORDING)
            node.cut()
            node.push(blocks_of(name, start + 41, start + 60), skip=LIKE_THE_RECORDING)
            node.serve()
            replica.wait_for_head(start + 60)
            node.cut()
            node.close()
            node.open()
            node.push(blocks_of(name, start + 61, start + 70), skip=LIKE_THE_RECORDING)
            node.serve()
            replica.wait_for_head(start + 70)
        node.push(blocks_of(name, start + 71, last), batch=50, skip=LIKE_THE_RECORDING)
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            replica.wait_for_head(last)
        irreversible = node.chain.irreversible
    assert_equal(node.state, replica.state)
    assert loads(caplog) == 1, "all but the beginning came as changes"
    log, records = RollingBlockLogReader.open(replica.state), BlockRecords(replica.state)
    assert [log.read(number) for number in range(irreversible - 40, irreversible + 1)] == [
        *recorded_blocks(name)[irreversible - 41 : irreversible]
    ]
    log.close()
    assert records.read(start + 1, last + 1) == BlockRecords(node.state).read(start + 1, last + 1)


def test_a_replica_that_is_killed_between_projections_and_state_takes_the_same_changes_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, start = "open-pm2", USUAL["open-pm2"]
    copy_replayed(name, start, tmp_path / "node")
    with ServedNode(tmp_path / "node", network_of(name)) as node:
        node.serve()
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            replica.wait_for_head(start)
            commit, folders = CopiedFile.commit, list[Path]()

            def killed(file: CopiedFile) -> None:
                folders.append(file.folder)
                if file.folder.name != FOLDER and len(folders) < 8:
                    raise OSError("killed")
                commit(file)

            monkeypatch.setattr(CopiedFile, "commit", killed)
            node.push(blocks_of(name, start + 1, start + 40), batch=5, skip=LIKE_THE_RECORDING)
            replica.wait_for_head(start + 40)
            node.push(blocks_of(name, start + 41, start + 70), batch=5, skip=LIKE_THE_RECORDING)
            replica.wait_for_head(start + 70)
    assert_equal(node.state, replica.state)
    assert len(folders) >= 8
    assert loads(caplog) == 1
    assert DIFFERS not in caplog.text


def test_projections_that_begin_anew_at_the_node_are_sent_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name, start = "open-pm2", USUAL["open-pm2"]
    copy_replayed(name, start, tmp_path / "node")
    with ServedNode(tmp_path / "node", network_of(name)) as node:
        node.serve()
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            node.push(blocks_of(name, start + 1, start + 20), skip=LIKE_THE_RECORDING)
            replica.wait_for_head(start + 20)
            node.cut()
            node.close()
            shutil.rmtree(node.state / FOLDER)
            node.open()
            node.push(blocks_of(name, start + 21, start + 30), skip=LIKE_THE_RECORDING)
            node.serve()
            replica.wait_for_head(start + 30)
    assert_equal(node.state, replica.state)
    assert loads(caplog) == 2
    assert DIFFERS not in caplog.text


def test_a_state_that_differs_is_found_within_a_round_and_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name, start = "open-2", USUAL["open-2"]
    copy_replayed(name, start, tmp_path / "node")
    with ServedNode(tmp_path / "node", network_of(name)) as node:
        node.serve()
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            replica.wait_for_head(start)
        with _writing(replica.state) as (environment, write):
            database = environment.open_db(ACCOUNTS.title.encode(), txn=write, create=False)
            key, value = next(iter(write.cursor(database)))
            write.put(key, value[:-1] + bytes([value[-1] ^ 1]), db=database)
        _change_digest(replica.state)
        with RunningReplica(node.settings, tmp_path / "replica") as replica:
            node.push(blocks_of(name, start + 1, start + 22), skip=LIKE_THE_RECORDING)
            replica.wait_for(lambda status: not status.is_sound)
            replica.wait_for_head(start + 22)
    assert loads(caplog) == 2
    assert any("digest" in record.getMessage() for record in caplog.records)
    assert_equal(node.state, replica.state)


@contextmanager
def _writing(state: Path) -> Iterator[tuple[lmdb.Environment, LmdbTransaction]]:
    with lmdb.Environment(str(state), max_dbs=512) as environment, environment.begin(write=True) as write:
        yield environment, write


def _change_digest(state: Path) -> None:
    """What the replica has summed is that of what it has, as after a fault of its own while it wrote."""
    with _writing(state) as (environment, write):
        database = environment.open_db(b"replica", txn=write, create=False)
        digest = write.get(b"digest", db=database)
        assert digest is not None
        write.put(b"digest", bytes([digest[0] ^ 1]) + digest[1:], db=database)


class Nonsense:
    """A node that answers each hello with bytes of a test's choice, and keeps the connection."""

    def __init__(self, folder: Path, answer: bytes) -> None:
        self.settings = StreamSettings(read_stream_place(f"unix:{folder / 'nonsense.socket'}"))
        self._plug = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._plug.bind(str(folder / "nonsense.socket"))
        self._plug.listen()
        self._answer = answer
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                accepted, _ = self._plug.accept()
            except OSError:
                return
            self._kept.append(accepted)
            accepted.recv(1 << 16)
            accepted.sendall(self._answer)

    def close(self) -> None:
        self._plug.shutdown(socket.SHUT_RDWR)
        self._plug.close()
        for each in self._kept:
            each.close()


WELCOMED = packed(MessageKind.WELCOME, Welcome(b"chain", 5, 1))
ELSEWHERE = RecordHead(b"a" * 16, b"b" * 16, 1, 0).packed


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "a frame of"),
        (packed(MessageKind.HEAD, NewHead(5)), "in place of its welcome"),
        (WELCOMED[:-1] + b"\0", "not those that were written"),
        (WELCOMED + framed(77, b""), "a frame of kind 77"),
        (
            WELCOMED + (MOST_FRAME + 1).to_bytes(4, "big") + bytes([MessageKind.ROWS]),
            "a frame of 8388609 bytes",
        ),
        (WELCOMED + ELSEWHERE, "changes of another state"),
        (WELCOMED + framed(RecordFrame.PART, b"\x80"), "changes without a record"),
        (WELCOMED + framed(MessageKind.ROWS, b"\x80"), "rows of a state that was not begun"),
        (WELCOMED + framed(MessageKind.BLOCKS, b"\x92\x01\x91\xc4\x01a"), "block 1 is none"),
        (WELCOMED + framed(MessageKind.CHECK, b"x"), "a digest of 1 bytes"),
        (WELCOMED + framed(MessageKind.BLOCK_INFO, b"12345678" + b"x"), "records of blocks in 9 bytes"),
    ],
)
def test_a_node_that_speaks_nonsense_is_dropped_with_a_clear_error(answer: bytes, problem: str, tmp_path: Path) -> None:
    node = Nonsense(tmp_path, answer)
    with RunningReplica(node.settings, tmp_path / "replica") as replica:
        assert problem in replica.wait_for(lambda status: bool(status.problem)).problem
    node.close()


def test_a_node_that_falls_silent_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.replica.copies.following.SILENT_SECONDS", 0.02)
    monkeypatch.setattr("ledgerd.replica.copies.following.STOP_SECONDS", 0.01)
    node = Nonsense(tmp_path, WELCOMED)
    with RunningReplica(node.settings, tmp_path / "replica") as replica:
        assert "said nothing for" in replica.wait_for(lambda status: bool(status.problem)).problem
    node.close()


def test_a_message_that_comes_byte_by_byte_is_given_up(tmp_path: Path) -> None:
    """Each byte is heard, so silence does not end it; the time of the whole message does."""
    ours, theirs = socket.socketpair()
    seconds = iter(range(0, 10_000, 61))

    def trickle() -> None:
        with suppress(OSError):  # the replica has enough of it
            for each in WELCOMED[:20]:
                theirs.sendall(bytes([each]))

    replica = Replica(
        StreamSettings(read_stream_place(f"unix:{tmp_path / 'none'}")),
        tmp_path / STATE_FOLDER,
        lambda _: None,
        lambda: float(next(seconds)),
    )
    replica._connected = lambda: ours  # type: ignore[method-assign] # noqa: SLF001 - in place of a socket by name
    threading.Thread(target=trickle, daemon=True).start()
    assert "a message took more than 60 seconds" in replica._one_connection()  # noqa: SLF001
    theirs.close()
    replica.stop()
    replica.run()
