"""A node's chain in this process, with the process that serves its replicas, and replicas on threads."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import lmdb
import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.following import follow
from ledgerd.projections.kept import FOLDER
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.markets.records import MarketRecords
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.replica.copies.following import FollowStatus, Replica
from ledgerd.replica.order import ServerOrder
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.rpc.blocks.records import BlockRecorder
from ledgerd.state.files.change_log import CHANGES_FOLDER, RUN_BYTES, ChangeLog
from ledgerd.supervision.processes import Child, module_command
from tests.chain.networks import SMALL
from tests.chain.observing import observe
from tests.patience import PATIENCE

COMMAND = module_command("ledgerd.node.workers.beside.replica_server")
Databases = dict[str, dict[bytes, bytes]]


class ServedNode:
    """The chain of a folder, whose commits replicas follow."""

    def __init__(self, folder: Path, network: ChainParameters, settings: StreamSettings | None = None) -> None:
        self.folder, self.state, self._network = folder, folder / STATE_FOLDER, network
        self.socket = folder.parent / f"{folder.name}.socket"
        self.settings = settings or StreamSettings(read_stream_place(f"unix:{self.socket}"))
        self._child: Child | None = None
        self._wake: socket.socket | None = None
        self.open()

    def open(self) -> None:
        """Open the chain, as a node does at its start."""
        log = ChangeLog(self.state / CHANGES_FOLDER, os.urandom(RUN_BYTES))
        self.chain = Chain.open(self.folder, self._network, clock=lambda: 0.0, space=SMALL._replace(changes=log))
        follow(self.chain, [KeyReferences(), CustomProtocols(), MarketRecords()])
        self._records = BlockRecorder(self.state)
        self.chain.observe(self._records)
        observe(self.chain, lambda _: self.notice())

    def serve(self) -> None:
        """Start the process that serves replicas."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._child = Child.start(COMMAND, stdin=theirs.fileno())
        order = ServerOrder.of(self.state, self.state, self.folder / "archive", self.settings)
        ours.sendall(msgspec.json.encode(order) + b"\n")
        self._wake = ours

    def notice(self) -> None:
        """Something was committed."""
        if self._wake is not None:
            with suppress(OSError):
                self._wake.send(b"\n")

    def cut(self) -> None:
        """Kill the process that serves replicas, and with it every connection."""
        if self._child is not None and self._wake is not None:
            self._child.kill()
            self._child.wait_or_kill(PATIENCE)
            self._wake.close()
            self._child = self._wake = None

    def push(self, blocks: Iterable[Block], batch: int = 1, skip: SkipFlags = Skip.NOTHING) -> None:
        """Push blocks, with a commit after each so many."""
        for count, block in enumerate(blocks, 1):
            self.chain.push_block(block, skip, commit=False).or_raise()
            if not count % batch:
                self.chain.commit()
        self.chain.commit()

    def close(self) -> None:
        """Close the chain."""
        self.chain.close()
        self._records.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self.close()


class RunningReplica:
    """A replica of a node, in a folder of its own."""

    def __init__(self, settings: StreamSettings, folder: Path) -> None:
        self.state = folder / STATE_FOLDER
        self.told: list[FollowStatus] = []
        self._changed = threading.Condition()
        self.replica = Replica(settings, self.state, self._tell)
        self._thread = threading.Thread(target=self.replica.run, daemon=True)
        self._thread.start()

    def _tell(self, status: FollowStatus) -> None:
        with self._changed:
            self.told.append(status)
            self._changed.notify_all()

    def wait_for(self, what: Callable[[FollowStatus], bool]) -> FollowStatus:
        """Wait until it stands so."""
        until = time.monotonic() + PATIENCE
        with self._changed:
            while not self.told or not what(self.told[-1]):
                assert self._changed.wait(until - time.monotonic()), self.told[-1:]
            return self.told[-1]

    def wait_for_head(self, head: int) -> FollowStatus:
        """Wait until it has a block as its head, and nothing against it."""
        return self.wait_for(lambda status: status.head == head and status.is_sound and not status.problem)

    def stop(self) -> None:
        """Stop it, and wait for its end."""
        self.replica.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def databases(folder: Path) -> Databases:
    """All that a state has, byte for byte; nobody in this process may have it open."""
    found: Databases = {}
    with lmdb.Environment(str(folder), readonly=True, max_dbs=512) as environment, environment.begin() as read:
        for name, _ in read.cursor():
            found[name.decode()] = dict(read.cursor(environment.open_db(name, txn=read, create=False)))
    return found


def assert_equal(node: Path, replica: Path) -> None:
    """A replica has what the node has: all but the journal, which is for undoing."""
    for of_node, of_replica in ((node, replica), (node / FOLDER, replica / FOLDER)):
        if not of_node.exists():
            continue
        ours, theirs = databases(of_replica), databases(of_node)
        assert set(theirs) - set(ours) == {"journal"}
        assert set(ours) - set(theirs) == {"replica"}
        for name, entries in theirs.items():
            if name != "journal":
                assert ours[name] == entries, name
