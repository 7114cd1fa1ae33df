"""What all replicas of a node share: its last commit, the digests, and when there is something new."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from ledgerd.basics.framing.frames import FrameFault
from ledgerd.replica.digest import packed_digest
from ledgerd.replica.serving.node_digest import NodeDigest
from ledgerd.replica.source import NodeFiles
from ledgerd.state.files.change_log import LogGap

log = logging.getLogger(__name__)

ROUND = 21
"""Blocks between two digests: a round of the schedule."""

KEPT_DIGESTS = 32
"""The latest digests that are kept."""
RETRY_SECONDS = 1.0


class Latest(NamedTuple):
    """The last commit that may be sent."""

    position: bytes
    revision: int
    irreversible: int


class Hub:
    """Follows the commits of the node, and computes its digest while there are replicas."""

    def __init__(self, source: NodeFiles) -> None:
        self.source = source
        self.digests: dict[bytes, bytes] = {}
        """The latest digests of the state, by the positions in the log of changes at which they hold."""
        self._digest = NodeDigest(source)
        self._replicas = 0
        self._noticed = asyncio.Event()
        self.next_change = asyncio.Event()
        """Set when there is something newer than `latest`, which is to be read after this."""
        self._wanted = asyncio.Event()
        """Set while the digest is computed in full."""
        self._published = -ROUND
        """The block of the last digest."""
        self.latest = self._read()

    def _read(self) -> Latest:
        with self.source.snapshot() as now:
            return Latest(now.position, now.revision, now.irreversible)

    def notice(self) -> None:
        self._noticed.set()

    def enter(self) -> Callable[[], None]:
        """A replica is served from now on; returns what to call at its end."""
        self._replicas += 1
        self._noticed.set()

        def leave() -> None:
            self._replicas -= 1
            self._noticed.set()

        return leave

    async def run(self) -> None:
        while True:
            await self._noticed.wait()
            self._noticed.clear()
            try:
                await self._follow()
            except (LogGap, FrameFault) as fault:
                self._log(fault)
                self._noticed.set()

    async def count(self) -> None:
        """Compute the digest in full whenever that is needed, for ever."""
        while True:
            await self._wanted.wait()
            try:
                await self._digest.begin()
            except LogGap as fault:
                self._log(fault)
                self._digest.end()
                await asyncio.sleep(RETRY_SECONDS)
            self._wanted.clear()
            self._noticed.set()  # there were commits meanwhile

    async def _follow(self) -> None:
        digest = self._digest
        if self._wanted.is_set():  # it is being computed
            self._publish(self._read())
        elif not self._replicas:
            digest.end()
            self.digests.clear()
            self._publish(self._read())
        elif digest.total is None:
            self._wanted.set()
            self._publish(self._read())
        else:
            now = self.source.snapshot()
            latest = Latest(now.position, now.revision, now.irreversible)
            await digest.advance(now)
            if digest.total is not None and abs(latest.revision - self._published) >= ROUND:
                self._published = latest.revision
                self.digests[latest.position] = packed_digest(digest.total)
                while len(self.digests) > KEPT_DIGESTS:
                    del self.digests[next(iter(self.digests))]
                self._wake()
            self._publish(latest)

    def _log(self, fault: Exception) -> None:
        log.info("the digest of the state is computed again: %(reason)s", {"reason": str(fault)})

    def _publish(self, latest: Latest) -> None:
        if latest != self.latest:
            self.latest = latest
            self._wake()

    def _wake(self) -> None:
        self.next_change.set()
        self.next_change = asyncio.Event()
