"""`--create-snapshot`: the state is opened, written to a file, and that is all that the node does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from ledgerd.node.datadir.state_export import Written, write_snapshot
from ledgerd.node.parts.chain import ChainPart
from ledgerd.protocol.errors import OperatorError

log = logging.getLogger(__name__)


class SnapshotErrand:
    """The part that writes the snapshot, in the place of all that would serve or produce."""

    def __init__(
        self, chain: ChainPart, path: Path, wall_seconds: Callable[[], int], steady: Callable[[], float]
    ) -> None:
        self._chain = chain
        self._path = path
        self._wall_seconds = wall_seconds
        self._steady = steady

    async def start(self) -> None:
        """Write it."""
        began = self._steady()
        written = await self._chain.run(self._write)
        log.info(
            "Snapshot created successfully: %s (%d bytes compressed, %.1f sec)",
            self._path,
            written.size,
            self._steady() - began,
        )

    def _write(self) -> Written:
        chain = self._chain.chain
        if chain.head_number == 0:
            raise OperatorError(f"--create-snapshot: the state in {self._chain.files.folder} has no blocks yet")
        return write_snapshot(chain, self._path, self._wall_seconds())

    async def stop(self) -> None:
        """Nothing of it is left."""
