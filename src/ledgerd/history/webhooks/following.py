"""Follows the history for each receiver by itself: what one of them does delays no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from ledgerd.chain.log.histories import History
from ledgerd.history.webhooks.deliveries import Deliveries, QueueFull
from ledgerd.history.webhooks.position import HookPosition, position_file, read_position, write_position
from ledgerd.history.webhooks.reading import wanted_of
from ledgerd.history.webhooks.sending import NotDelivered, Sender
from ledgerd.history.webhooks.settings import Webhook

log = logging.getLogger(__name__)

POLL_SECONDS = 0.25

LONGEST_PAUSE = 300.0
"""The longest pause between two attempts; the first pause is a second, and each is twice the one before."""

STORED_EVERY = 1_000
"""Blocks without an event after which the position is stored."""

Pausing = Callable[[float], Awaitable[None]]


class HookFollower:
    """Sends events to one receiver for as long as it runs."""

    def __init__(
        self,
        folder: Path,
        hook: Webhook,
        history: History,
        sender: Sender,
        most_behind: int,
        sleep: Pausing = asyncio.sleep,
    ) -> None:
        self._file = position_file(folder, hook)
        self._hook = hook
        self._sender = sender
        self._sleep = sleep
        self._stored = read_position(self._file)
        self._deliveries = Deliveries(
            history, wanted_of(hook), self._stored, most_behind, reversible=hook.reversible, start=hook.start
        )

    async def run(self) -> None:
        while not self._stored.ended:
            await self._sleep(await self.step())
        log.error(
            "the webhook %(url)s has ended: %(reason)s; remove %(file)s to begin again",
            {"url": self._hook.url, "reason": self._stored.ended, "file": self._file},
        )

    async def step(self) -> float:
        """Send the next delivery; returns the pause before the next step."""
        deliveries = self._deliveries
        try:
            delivery = deliveries.next()
        except QueueFull as full:
            self._store(replace(deliveries.position, ended=str(full)))
            return 0.0
        if delivery is None:
            now, stored = deliveries.position, self._stored
            is_far = now.next_block - stored.next_block >= STORED_EVERY or not stored.next_block
            if is_far or now.behind != stored.behind:  # the operator reads there that nothing waits any more
                self._store(now)
            return POLL_SECONDS
        if delivery.attempted.sent != self._stored.sent:
            self._store(delivery.attempted)
        try:
            await self._sender.send(delivery.body)
        except NotDelivered as problem:
            failures = delivery.attempted.failures + 1
            if failures & (failures - 1) == 0:  # the first, second, fourth, and so on
                log.warning(
                    "the webhook %(url)s has not taken a delivery %(times)d times in a row: %(reason)s",
                    {"url": self._hook.url, "times": failures, "reason": problem},
                )
            self._store(replace(delivery.attempted, failures=failures))
            return min(LONGEST_PAUSE, 2.0 ** min(failures - 1, 16))
        self._store(delivery.acknowledged)
        return 0.0

    def _store(self, position: HookPosition) -> None:
        write_position(self._file, position)
        self._stored = self._deliveries.position = position
