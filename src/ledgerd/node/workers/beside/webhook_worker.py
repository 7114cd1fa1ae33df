"""The process that sends webhooks: it reads the history beside its writer, and ends with the node."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from functools import partial
from pathlib import Path

from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.webhooks.following import HookFollower
from ledgerd.history.webhooks.sending import Sender
from ledgerd.history.webhooks.settings import target_of
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.workers.settings import WebhookArguments
from ledgerd.supervision.processes import parent_ended
from ledgerd.supervision.tasks import all_of, first_of
from ledgerd.supervision.this_process import give_way, on_a_loop, read_arguments

NICENESS = 5
RETRY_SECONDS = 1.0


async def serve(order: WebhookArguments) -> None:
    stopping = asyncio.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await first_of(stopping.wait(), parent_ended(order.node), _follow(order))


async def _follow(order: WebhookArguments) -> None:
    history = await _opened(order)
    folder, most_behind = Path(order.folder), order.webhooks.most_behind
    senders = [(hook, Sender(target_of(hook.url), Path(hook.secret), time.time)) for hook in order.webhooks.hooks]
    await all_of(HookFollower(folder, hook, history, sender, most_behind).run() for hook, sender in senders)
    await asyncio.Event().wait()  # all of them have ended: the operator is told by the node


async def _opened(order: WebhookArguments) -> EmbeddedHistory:
    while True:
        try:
            return EmbeddedHistory.open(Path(order.history_folder), Path(order.logs), order.history)
        except HistoryDamaged:
            await asyncio.sleep(RETRY_SECONDS)


def main() -> None:
    give_way(NICENESS)
    order = read_arguments(sys.stdin.buffer.read(), WebhookArguments)
    set_up_child_logging(order.log_format)
    Path(order.folder).mkdir(parents=True, exist_ok=True)
    on_a_loop(partial(serve, order))


if __name__ == "__main__":
    main()
