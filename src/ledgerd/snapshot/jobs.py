"""Having a snapshot written or imported by a process of its own; what that process does is in `job`."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress

import msgspec

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.job import Done, Failed, Order, Progress, Told

log = logging.getLogger(__name__)


async def done(order: Order) -> Done:
    """Wait until an order is carried out; `SnapshotError` says why it cannot be. Cancelling ends the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ledgerd.snapshot.job",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        return await _outcome(process, order)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _outcome(process: asyncio.subprocess.Process, order: Order) -> Done:
    if process.stdin is None or process.stdout is None:
        raise SnapshotError("the process for the snapshot has no input or no output")
    process.stdin.write(msgspec.json.encode(order) + b"\n")
    async for line in process.stdout:
        match msgspec.json.decode(line, type=Told):
            case Done() as told:
                return told
            case Failed(text):
                raise SnapshotError(text)
            case Progress(text):
                log.info("%s", text)
    raise SnapshotError(f"the process for the snapshot ended without a result (code {await process.wait()})")
