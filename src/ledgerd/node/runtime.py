"""A running node: the parts of the table `part_table`, started in its order and stopped in reverse."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.part_table import PARTS, PartSpec
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.context import PartContext, SigningPermit
from ledgerd.node.parts.validators.guard import GuardPart
from ledgerd.node.time_source import TimeSource
from ledgerd.state.files.lock import lock_writer
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

P = TypeVar("P", bound=Part)


class Runtime:
    """The parts of one node."""

    def __init__(
        self, configuration: Configuration, time: TimeSource | None = None, parts: Iterable[PartSpec] = PARTS
    ) -> None:
        data_dir, network = configuration.invocation.data_dir, network_of(configuration)
        data_dir.mkdir(parents=True, exist_ok=True)
        self.configuration, self.time = configuration, time or TimeSource(network.clock)
        self._lock = lock_writer(data_dir)
        self.newer_state = asyncio.Event()
        self._parts: dict[type[Part], Part] = {}
        self._chosen: list[Part] = []
        signing = SigningPermit()
        for spec in parts:
            context = PartContext(spec.work(), configuration, network, self.time, signing, self.newer_state)
            make: Callable[..., Part] = spec.make or spec.kind
            self._parts[spec.kind] = part = make(context, *(self._parts[kind] for kind in spec.needs))
            if spec.runs_with(configuration):
                self._chosen.append(part)
        self.chain, self.webserver = self.part(ChainPart), self.part(WebserverPart)
        self._started: list[Part] = []
        self._supervisor = Supervisor()

    def part(self, kind: type[P]) -> P:
        return cast("P", self._parts[kind])

    @property
    def stop_seconds(self) -> float:
        guard = self.part(GuardPart)
        return guard.stop_seconds if guard in self._started else 0.0

    @property
    def is_one_shot(self) -> bool:
        return self.configuration.invocation.create_snapshot is not None

    async def start(self) -> None:
        try:
            for part in self._chosen:
                await self._start(part)
        except BaseException:
            await self.stop()
            raise

    async def _start(self, part: Part) -> None:
        self._supervisor.add(part)
        self._started.append(part)
        await part.start()

    @property
    def failure(self) -> BaseException | None:
        return self._supervisor.failure

    async def ended(self) -> None:
        await first_of(self.newer_state.wait(), self._supervisor.failed())

    async def stop(self) -> None:
        self._supervisor.expect_ends()
        while self._started:
            part = self._started.pop()
            await part.stop()
            await part.work.stop()
        if self.newer_state.is_set():
            await in_thread(self._install_newer_state)
        self._lock.close()

    def _install_newer_state(self) -> None:
        if self.chain.verified.is_going_back:
            self.chain.verified.go_back()
            return
        aside = self.chain.files.set_full_log_aside()
        if aside is not None:
            log.warning(
                "the newer state does not continue the block log, which is kept in %(folder)s", {"folder": aside}
            )
        self.chain.files.put_in_place()
