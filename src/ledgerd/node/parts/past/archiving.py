"""The archive of irreversible blocks (spec 11, section 9.7): read from the block log, by a thread of its own, so that
the chain neither waits for it nor hears of its errors.
"""

from __future__ import annotations

import asyncio
import logging

from ledgerd.archive.writer import Copying
from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.log.files import LogDamaged
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0

TROUBLED_SECONDS = 60.0


class ArchivePart(NodePart):
    """Copies irreversible blocks from the log to the archive."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context)
        self._options = context.configuration.chain
        self._logs = context.configuration.invocation.data_dir / STATE_FOLDER

    async def start(self) -> None:
        self.work.keep("the archive", self._keep_copying)

    async def _keep_copying(self, works: Working) -> None:
        works()
        while True:
            try:
                await self._copy()
            except LogDamaged as problem:
                log.error(  # noqa: TRY400 - the text is all that helps
                    "block_archive: block %(block)d is not readable, archiving stopped: %(reason)s",
                    {"block": problem.number, "reason": str(problem)},
                )
                await asyncio.Event().wait()
            except (OSError, OperatorError) as problem:
                log.warning("block_archive: %(reason)s", {"reason": str(problem)})
                await asyncio.sleep(TROUBLED_SECONDS)

    async def _copy(self) -> None:
        """Until an error; half of the time is left to others."""
        options, loop = self._options, asyncio.get_running_loop()
        copying = await in_thread(Copying, self._logs, options.block_archive_dir, options.block_archive_range)
        try:
            while True:
                began = loop.time()
                has_more = await in_thread(copying.step)
                await asyncio.sleep(loop.time() - began if has_more else PAUSE_SECONDS)
        finally:
            await in_thread(copying.close)
