"""Starts the process of `job`, which writes or imports a snapshot, and reads its result."""

from __future__ import annotations

import asyncio
import logging
import socket

import msgspec

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.importing.import_progress import ImportProgress
from ledgerd.snapshot.importing.job import Counted, Done, Failed, JobOrder, JobReport, Logged, Progress
from ledgerd.supervision.processes import Child, module_command

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.snapshot.importing.job")


async def done(order: JobOrder) -> Done:
    """Wait until an order is carried out; raises `SnapshotError` if it cannot be. Cancelling ends the process."""
    try:
        child, ours = Child.on_socket(COMMAND, answers=True)
    except OSError as problem:
        reason = problem.strerror or problem
        raise SnapshotError(f"the process for the snapshot cannot be started: {reason}") from problem
    with ours:
        try:
            return await _outcome(child, ours, order)
        finally:
            await child.stop()


def _log(line: Logged) -> None:
    """A line of the process, with its values; a traceback is a line by itself."""
    logger = logging.getLogger(line.logger)
    logger.log(line.level, line.text if line.fields else "%s", line.fields or line.text)
    if line.traceback:
        logger.log(line.level, "%s", line.traceback)


async def _outcome(child: Child, ours: socket.socket, order: JobOrder) -> Done:
    reader, writer = await asyncio.open_connection(sock=ours)
    progress = {"record": ImportProgress()}
    try:
        writer.write(msgspec.json.encode(order) + b"\n")
        async for line in reader:
            report = msgspec.json.decode(line, type=JobReport)
            match report:
                case Done():
                    return report
                case Failed(text):
                    raise SnapshotError(text)
                case Progress(text):
                    log.info("%s", text)
                case Counted(unit, done, size):
                    if unit not in progress:
                        progress[unit] = ImportProgress("checking the imported state", unit)
                    progress[unit].at(done, size)
                case Logged():
                    _log(report)
    finally:
        writer.transport.abort()
    raise SnapshotError(f"the process for the snapshot ended without a result (code {await child.ended()})")
