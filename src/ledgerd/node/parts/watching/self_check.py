"""The cheap checks of the doctor while the node runs, as warnings in `/ready`; and records that the doctor needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

from ledgerd.doctor.clock import judged
from ledgerd.doctor.disk import not_writable, record_sample, room
from ledgerd.doctor.finding import Finding
from ledgerd.doctor.machine import memory
from ledgerd.doctor.ports import RECENT, last_inbound, record_inbound, unreached
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

CHECK_SECONDS = 60.0


class SelfCheckPart(NodePart):
    """Checks the machine and the peers once a minute."""

    def __init__(
        self,
        context: PartContext,
        chain: ChainPart,
        peers: PeersPart,
        production: ProductionPart,
        root: Path = Path("/"),
    ) -> None:
        super().__init__(context)
        self._endpoint = context.configuration.p2p.endpoint
        self._chain = chain
        self._peers = peers
        self._production = production
        self._second = context.time.machine_second
        self._root = root
        self._began = self._second()
        self._warned: frozenset[str] = frozenset()

    async def start(self) -> None:
        self.work.keep("checks of the machine", self._run)

    async def _run(self, working: Working) -> None:
        while True:
            await self.check()
            working()
            await asyncio.sleep(CHECK_SECONDS)

    async def check(self) -> None:
        has_inbound = await self._chain.run(lambda: self._peers.has_inbound)
        findings = {each.name: each for each in await in_thread(self._found, has_inbound)}
        for name in self._warned - findings.keys():
            self.work.warn(name, "")
        for name, finding in findings.items():
            if name not in self._warned:
                log.warning("found by the node itself: %(finding)s", {"finding": finding.line})
            self.work.warn(name, finding.line)
        self._warned = frozenset(findings)

    def _found(self, has_inbound: bool) -> list[Finding]:
        """A full disk is a finding: the checks go on, and the node with them."""
        now = self._second()
        try:
            if has_inbound:
                record_inbound(self._data_dir, now)
            record_sample(self._data_dir, now)
        except OSError as problem:
            return [not_writable(self._data_dir, problem), *self._findings(now)]
        return [*self._findings(now)]

    def _findings(self, now: int) -> Iterator[Finding]:
        yield from room(self._data_dir, now)
        yield from memory(self._root)
        offset = self._production.clock_offset
        if offset is not None:
            yield from judged(offset)
        if self._endpoint is not None and now - self._began > RECENT:
            yield from unreached(self._endpoint, last_inbound(self._data_dir), now)
