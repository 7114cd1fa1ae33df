"""A hook goes on from what was acknowledged, with growing pauses, and one that hangs delays no other."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from random import Random

import pytest

from ledgerd.history.webhooks.following import LONGEST_PAUSE, POLL_SECONDS, HookFollower
from ledgerd.history.webhooks.position import position_file, read_position
from ledgerd.history.webhooks.sending import NotDelivered
from ledgerd.history.webhooks.settings import Webhook
from tests.rpc.api.history.test_stream import Story
from tests.rpc.loopback import play, until

HOOK = Webhook("http://127.0.0.1:1/", "secret", start=1)


class TakingSender:
    """Keeps what is sent, or refuses it so many times."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.bodies: list[bytes] = []

    async def send(self, body: bytes) -> None:
        if self.refusals:
            self.refusals -= 1
            raise NotDelivered("it answered 500")
        self.bodies.append(body)

    @property
    def ids(self) -> list[str]:
        return [event["id"] for body in self.bodies for event in json.loads(body)["events"]]


def story_of(folder: Path, blocks: int) -> Story:
    story = Story(folder, Random(1))  # noqa: S311
    for number in range(blocks):
        story.teller.block([[number]])
    story.end()
    return story


def follower(folder: Path, story: Story, sender: object, most_behind: int = 100, hook: Webhook = HOOK) -> HookFollower:
    return HookFollower(folder, hook, story.history, sender, most_behind)  # type: ignore[arg-type] # stands for a Sender


def test_pauses_grow_and_nothing_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    story, sender = story_of(tmp_path / "chain", 3), TakingSender(refusals=12)

    async def scene() -> list[float]:
        hook = follower(tmp_path, story, sender)
        return [await hook.step() for _ in range(14)]

    with caplog.at_level(logging.WARNING):
        pauses = play(scene)
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, *[LONGEST_PAUSE] * 3, 0, POLL_SECONDS]
    assert len(sender.ids) == len(set(sender.ids)) >= 3
    assert [record.args["times"] for record in caplog.records if isinstance(record.args, dict)] == [1, 2, 4, 8]
    assert read_position(position_file(tmp_path, HOOK)).failures == 0
    story.close()


def test_what_waits_is_stored_until_nothing_does(tmp_path: Path) -> None:
    """The node reads it there for the operator."""
    story, sender = story_of(tmp_path / "chain", 9), TakingSender(refusals=1)
    waiting = []

    async def scene() -> None:
        hook = follower(tmp_path, story, sender)
        for _ in range(3):
            await hook.step()
            waiting.append(read_position(position_file(tmp_path, HOOK)).behind)

    play(scene)
    assert waiting == [9, 9, 0]
    story.close()


def test_after_a_kill_it_goes_on_behind_what_was_acknowledged(tmp_path: Path) -> None:
    story, sender = story_of(tmp_path / "chain", 2), TakingSender()

    async def scene() -> None:
        await follower(tmp_path, story, sender).step()
        story.teller.block([[7]])
        story.end()
        await follower(tmp_path, story, sender).step()
        assert await follower(tmp_path, story, sender).step() == POLL_SECONDS

    play(scene)
    assert len(sender.bodies) == 2
    assert len(sender.ids) == len(set(sender.ids))
    story.close()


def test_a_hook_with_another_filter_is_another_one(tmp_path: Path) -> None:
    story, sender = story_of(tmp_path / "chain", 2), TakingSender()

    async def scene() -> None:
        await follower(tmp_path, story, sender).step()
        await follower(tmp_path, story, sender, hook=Webhook(HOOK.url, "secret", types=("transfer",), start=1)).step()

    play(scene)
    assert len({each.name for each in tmp_path.glob("*.json")}) == 2
    story.close()


def test_one_that_too_much_waits_for_ends_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    story, sender = story_of(tmp_path / "chain", 12), TakingSender()

    async def scene() -> None:
        for _ in range(2):  # also after a restart
            await follower(tmp_path, story, sender, most_behind=10).run()

    with caplog.at_level(logging.ERROR):
        play(scene)
    assert not sender.bodies
    assert read_position(position_file(tmp_path, HOOK)).ended == "12 blocks wait for it, and at most 10 may"
    assert len(caplog.records) == 2
    story.close()


def test_one_that_hangs_delays_no_other(tmp_path: Path) -> None:
    story, sender = story_of(tmp_path / "chain", 2), TakingSender()

    class Hanging:
        async def send(self, _body: bytes) -> None:
            await asyncio.Event().wait()

    async def scene() -> None:
        other = Webhook("http://127.0.0.1:2/", "secret", start=1)
        tasks = [
            asyncio.create_task(follower(tmp_path, story, Hanging()).run()),
            asyncio.create_task(follower(tmp_path, story, sender, hook=other).run()),
        ]
        await until(lambda: sender.bodies)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    play(scene)
    story.close()
