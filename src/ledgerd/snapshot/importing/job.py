"""The process that writes, imports, compares or checks a snapshot for a node, at a low priority. It reads one order
from its input, reports progress, and ends when the input is closed.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.file.compare import differing
from ledgerd.snapshot.file.export import create
from ledgerd.snapshot.importing.audit import audit_copy
from ledgerd.snapshot.importing.build import MOST_PROCESSES, build_state, read_snapshot
from ledgerd.snapshot.settings import ANY, Terms
from ledgerd.state.files.disk import Space
from ledgerd.supervision.processes import processors_beside
from ledgerd.supervision.this_process import give_way, search_rarely
from ledgerd.supervision.threads import begin_thread

log = logging.getLogger(__name__)

NICENESS = 10


class Export(msgspec.Struct, frozen=True, tag=True):
    """Write a snapshot."""

    state: str
    logs: str
    chain: str
    path: str
    created: int
    with_metadata: bool = False


class Import(msgspec.Struct, frozen=True, tag=True):
    """Build the state of a snapshot in an empty folder."""

    folder: str
    chain: str
    path: str
    space: tuple[int, int, int]
    terms: Terms = ANY


class Compare(msgspec.Struct, frozen=True, tag=True):
    """Whether two snapshots of the same block hold the same records."""

    one: str
    two: str
    chain: str


class Audit(msgspec.Struct, frozen=True, tag=True):
    """Check the state that a node uses, on a copy."""

    state: str
    folder: str
    chain: str


class Progress(msgspec.Struct, frozen=True, tag=True):
    """The work that the job is doing."""

    text: str


class Counted(msgspec.Struct, frozen=True, tag=True):
    """Records that were read, or checks of the state that were made, and how many there are in all."""

    unit: Literal["record", "check"]
    done: int
    size: int


class Logged(msgspec.Struct, frozen=True, tag=True):
    """A line for the log of the node, which has its forms and its places."""

    logger: str
    level: int
    text: str
    fields: dict[str, str | int | float] = {}
    traceback: str = ""


class Done(msgspec.Struct, frozen=True, tag=True):
    """The order was carried out."""

    number: int
    size: int = 0
    obstacles: tuple[str, ...] = ()
    obstacle_count: int = 0
    residual: int = 0
    """The tokens in the written state above its supply."""
    differing: tuple[str, ...] = ()
    head_id: str = ""
    """The id of the head block of the imported state, in hex."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The order failed, for a reason that the operator can act on."""

    text: str


JobOrder = Export | Import | Compare | Audit
JobReport = Progress | Counted | Logged | Done | Failed


def carry_out(order: JobOrder, report: Callable[[JobReport], None]) -> Done:
    network = parameters_of(order.chain)
    match order:
        case Export():
            return _export(order, network)
        case Import():
            return _import(order, network, report)
        case Compare(one, two):
            report(Progress(f"comparing {one} with {two}"))
            snapshots = read_snapshot(Path(one)), read_snapshot(Path(two))
            return Done(snapshots[0].head_number, differing=tuple(differing(*snapshots, network)))
        case Audit(state, folder):
            return Done(audit_copy(Path(state), Path(folder), network, lambda *made: report(Counted("check", *made))))


def _export(order: Export, network: ChainParameters) -> Done:
    written = create(
        Path(order.state),
        Path(order.logs),
        network,
        Path(order.path),
        order.created,
        with_metadata=order.with_metadata,
    )
    faults = written.exported.loadability
    return Done(
        written.number,
        size=written.size,
        obstacles=tuple(map(str, faults.obstacles)),
        obstacle_count=faults.count,
        residual=written.exported.tally.excess,
    )


def _import(order: Import, network: ChainParameters, report: Callable[[JobReport], None]) -> Done:
    report(Progress(f"reading {order.path}"))
    snapshot = read_snapshot(Path(order.path))
    report(Progress(f"importing the state of block {snapshot.head_number}"))
    snapshot.progress = lambda done: report(Counted("record", done, snapshot.size))
    build_state(
        Path(order.folder),
        snapshot,
        network,
        Space(*order.space),
        order.terms,
        lambda *made: report(Counted("check", *made)),
        processors_beside(MOST_PROCESSES),
    )
    return Done(snapshot.head_number, head_id=snapshot.head_id.hex())


def main() -> None:
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    give_way(NICENESS)
    search_rarely()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit(1)  # the node was killed before it had sent an order
    order: JobOrder = msgspec.json.decode(line, type=JobOrder)
    package = logging.getLogger("ledgerd")
    package.addHandler(LogToNode())
    package.setLevel(logging.INFO)
    begin_thread("end of input", _read_to_the_end, lambda _: os._exit(1))
    try:
        _report(carry_out(order, _report))
    except OperatorError as problem:
        _report(Failed(str(problem)))
    except Exception:
        log.exception("the process for the snapshot has failed: internal error")
        sys.exit(1)


class LogToNode(logging.Handler):
    """Sends the lines of this process to the node."""

    def emit(self, record: logging.LogRecord) -> None:
        fields = record.args if isinstance(record.args, Mapping) else {}
        traceback = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        _report(
            Logged(
                record.name,
                record.levelno,
                str(record.msg) if fields else record.getMessage(),
                {str(name): each if isinstance(each, int | float) else str(each) for name, each in fields.items()},
                traceback,
            )
        )


def _report(report: JobReport) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


def _read_to_the_end() -> None:
    while os.read(sys.stdin.fileno(), 1 << 10):
        pass


if __name__ == "__main__":
    main()
