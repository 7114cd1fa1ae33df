"""Webhooks as a part of the node: the process that sends them, and what the operator hears of it."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import NoReturn

import msgspec

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.history.webhooks.position import HookPosition, position_file, read_position
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import webhooks as table
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.beside.webhook_worker import WebhookArguments
from ledgerd.supervision.processes import PIPE, Child, module_command
from ledgerd.supervision.work import Working

WEBHOOKS = "webhooks"

PROCESS = "ledgerd.node.workers.beside.webhook_worker"
CHECK_SECONDS = 1.0
STOP_SECONDS = 5.0
MANY_FAILURES = 8
"""Attempts in a row, about two minutes, after which a receiver that does not answer is a warning."""


class WebhooksPart(NodePart):
    """The webhooks of this node. One that has ended makes `/ready` fail until the operator has seen to it."""

    def __init__(self, context: PartContext, meters: MetersPart) -> None:
        super().__init__(context)
        configuration = context.configuration
        data_dir = configuration.invocation.data_dir
        self._hooks = configuration.webhooks.hooks
        self._most_behind = min(configuration.webhooks.most_behind, configuration.history.count_blocks)
        self._folder = data_dir / WEBHOOKS
        self._order = WebhookArguments(
            folder=str(self._folder),
            logs=str(data_dir / STATE_FOLDER),
            history_folder=str(data_dir / HISTORY_FOLDER),
            history=configuration.history,
            webhooks=configuration.webhooks,
            node=os.getpid(),
            log_format=configuration.application.log_format,
        )
        self._child: Child | None = None
        meters.on_disk.append(lambda made: partial(self._sample, made.cells))

    async def start(self) -> None:
        self.work.keep("the process that sends them", self._send)
        self.work.keep("the look at receivers", self._check)

    async def _send(self, working: Working) -> None:
        child = self._child = Child.start(module_command(PROCESS), stdin=PIPE, has_own_session=True)
        child.tell(msgspec.json.encode(self._order))
        working()
        await child.ended()

    async def _check(self, working: Working) -> NoReturn:
        while True:
            self.report_all()
            working()
            await asyncio.sleep(CHECK_SECONDS)

    def report_all(self) -> None:
        for hook, position in zip(self._hooks, self.positions(), strict=True):
            self._report(hook.url, position)

    def positions(self) -> list[HookPosition]:
        return [read_position(position_file(self._folder, hook)) for hook in self._hooks]

    def _sample(self, cells: Cells) -> None:
        for place, position in zip(table.WEBHOOK.values, self.positions(), strict=False):
            cells.gauge(table.WEBHOOK_BEHIND, place).set(position.behind)
            cells.gauge(table.WEBHOOK_MOST_BEHIND, place).set(self._most_behind)
            cells.gauge(table.WEBHOOK_FAILURES, place).set(position.failures)
            cells.gauge(table.WEBHOOK_ENDED, place).set(bool(position.ended))

    def _report(self, url: str, position: HookPosition) -> None:
        if position.ended:
            self.work.set_down(url, position.ended)
        else:
            self.work.set_up(url)
        is_late = position.failures >= MANY_FAILURES and not position.ended
        self.work.warn(url, f"the webhook {url} does not answer: {position.behind} blocks wait" if is_late else "")

    async def stop(self) -> None:
        """End the process; what is not acknowledged is sent again after the next start."""
        if self._child is not None:
            self._child.terminate()
            await self._child.stop(STOP_SECONDS)
