"""Starts the process of `job`, which writes or imports a snapshot, and reads its result."""

from __future__ import annotations

import asyncio
import logging
import socket

import msgspec

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.import_progress import ImportProgress
from ledgerd.snapshot.job import Done, Failed, JobOrder, Logged, Progress, RecordsRead, StateChecked, Told
from ledgerd.supervision.processes import Child, module_command

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.snapshot.job")


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


def _log(told: Logged) -> None:
    """A line of the process, with its values; a traceback is a line of its own."""
    logger = logging.getLogger(told.logger)
    logger.log(told.level, told.text if told.fields else "%s", told.fields or told.text)
    if told.traceback:
        logger.log(told.level, "%s", told.traceback)


async def _outcome(child: Child, plug: socket.socket, order: JobOrder) -> Done:
    reader, writer = await asyncio.open_connection(sock=plug)
    importing, checking = ImportProgress(), None
    try:
        writer.write(msgspec.json.encode(order) + b"\n")
        async for line in reader:
            told = msgspec.json.decode(line, type=Told)
            match told:
                case Done():
                    return told
                case Failed(text):
                    raise SnapshotError(text)
                case Progress(text):
                    log.info("%s", text)
                case StateChecked(made, size):
                    checking = checking or ImportProgress("checking the imported state", "check")
                    checking.at(made, size)
                case Logged():
                    _log(told)
                case RecordsRead(records, size):
                    importing.at(records, size)
    finally:
        writer.transport.abort()
    raise SnapshotError(f"the process for the snapshot ended without a result (code {await child.ended()})")
