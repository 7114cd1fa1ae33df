"""The process that writes or imports a snapshot for a node: beside the chain, at a low priority, with its own memory.

It reads one order from its input, reports progress, and ends when the input is closed, as when the node ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from ledgerd.protocol.chain_file import parameters_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.build import build_state, read_snapshot
from ledgerd.snapshot.create import create
from ledgerd.state.disk import Space
from ledgerd.supervision.niceness import give_way
from ledgerd.supervision.threads import begin_thread

NICENESS = 10


class Export(msgspec.Struct, frozen=True, tag=True):
    """Write a snapshot."""

    state: str
    """The folder of the state; the next field is that of the logs."""
    logs: str
    chain: str
    path: str
    created: int
    with_metadata: bool = False
    """Of markets."""


class Import(msgspec.Struct, frozen=True, tag=True):
    """Build the state of a snapshot in an empty folder."""

    folder: str
    chain: str
    path: str
    space: tuple[int, int, int]
    residual: int = 0
    with_metadata: bool = False


class Progress(msgspec.Struct, frozen=True, tag=True):
    """What the job is doing."""

    text: str


class RecordsRead(msgspec.Struct, frozen=True, tag=True):
    """How many records of all of them the import has read."""

    done: int
    size: int


class Done(msgspec.Struct, frozen=True, tag=True):
    """The order was carried out."""

    number: int
    size: int = 0
    obstacles: tuple[str, ...] = ()
    obstacle_count: int = 0
    residual: int = 0
    """The tokens in the written state above its supply."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The order failed, for a reason that the operator can act on."""

    text: str


JobOrder = Export | Import
Told = Progress | RecordsRead | Done | Failed


def carry_out(order: JobOrder, tell: Callable[[Told], None]) -> Done:
    """Carry an order out."""
    network = parameters_of(order.chain)
    path = Path(order.path)
    if isinstance(order, Export):
        written = create(
            Path(order.state), Path(order.logs), network, path, order.created, with_metadata=order.with_metadata
        )
        faults = written.exported.loadability
        obstacles = tuple(map(str, faults.obstacles))
        return Done(written.number, written.size, obstacles, faults.count, written.exported.tally.excess)
    tell(Progress(f"reading {path}"))
    snapshot = read_snapshot(path)
    tell(Progress(f"importing the state of block {snapshot.head_number}"))
    snapshot.progress = lambda done: tell(RecordsRead(done, snapshot.size))
    space = Space(*order.space)
    build_state(Path(order.folder), snapshot, network, space, order.residual, with_metadata=order.with_metadata)
    return Done(snapshot.head_number)


def main() -> None:
    """Read the order, carry it out, and write the result."""
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    give_way(NICENESS)
    order: JobOrder = msgspec.json.decode(sys.stdin.buffer.readline(), type=JobOrder)
    begin_thread("end of input", _read_to_the_end, lambda _: os._exit(1))
    try:
        _tell(carry_out(order, _tell))
    except OperatorError as problem:
        _tell(Failed(str(problem)))


def _tell(told: Told) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
    sys.stdout.buffer.flush()


def _read_to_the_end() -> None:
    """Wait for the end of the input, when the node has ended."""
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass


if __name__ == "__main__":
    main()
