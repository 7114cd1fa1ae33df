"""The process that sends webhooks: killed twice while the chain forks, its receiver has each operation once by id."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.settings import HistorySettings
from ledgerd.history.webhooks.settings import Webhook, WebhookSettings
from ledgerd.node.workers.settings import WebhookArguments
from tests.history.histories import HISTORY_FOLDER
from tests.history.webhooks.receivers import HttpReceiver, receiving
from tests.history.webhooks.test_deliveries import Receiver
from tests.rpc.api.history.test_stream import Story
from tests.rpc.loopback import play, until


def order_for(folder: Path, port: int, secret: Path, node: int | None = None) -> bytes:
    hook = Webhook(f"http://127.0.0.1:{port}/", str(secret), reversible=True, start=1)
    return msgspec.json.encode(
        WebhookArguments(
            folder=str(folder / "webhooks"),
            logs=str(folder / STATE_FOLDER),
            history_folder=str(folder / HISTORY_FOLDER),
            history=HistorySettings(store="postgresql:///ledger?host=/nowhere"),  # hooks are sent from the node's own
            webhooks=WebhookSettings((hook,)),
            node=node or os.getpid(),
        )
    )


def shop_of(receiver: HttpReceiver) -> Receiver:
    """What a shop has that took all of it so far."""
    shop = Receiver()
    for _, body in receiver.got:
        shop.take(body)
    return shop


def started(order: bytes) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ledgerd.node.workers.beside.webhook_worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - our own program
    assert process.stdin is not None
    process.stdin.write(order)
    process.stdin.close()
    return process


def test_a_receiver_has_each_operation_once_through_a_fork_and_two_kills(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(3))  # noqa: S311 - a story, no secret
    secret = tmp_path / "secret"
    secret.write_text("between us")
    secret.chmod(0o600)

    async def scene() -> None:
        async with receiving() as receiver:
            order = order_for(tmp_path, receiver.port, secret)
            for turn in range(3):
                process = started(order)
                known = len(receiver.got)
                for _ in range(3):
                    story.teller.block([[story.random.randint(0, 200)] for _ in range(3)])
                story.teller.commit()
                await until(lambda known=known: len(receiver.got) > known)  # type: ignore[misc] # bound for the turn
                if turn == 1:
                    story.teller.undo(2)
                    story.teller.block([[1]])
                    story.teller.commit()
                if turn == 2:
                    story.end()
                    story.teller.block([[5]])
                    story.teller.commit()
                    await until(lambda: shop_of(receiver).operations == story.expected(len(story.teller.trunk)))
                process.kill()
                await asyncio.to_thread(process.wait)
            assert shop_of(receiver).undone == 1

    play(scene)
    story.close()


def test_it_ends_when_the_node_is_gone(tmp_path: Path) -> None:
    """Another process is its parent by then; there is no history yet, and no receiver."""
    process = started(order_for(tmp_path, 9, tmp_path / "secret", node=os.getppid()))
    assert process.wait(60) == 0
