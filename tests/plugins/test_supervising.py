"""The process of a plugin is started again with growing pauses, or parked with a reason; the node waits for nothing."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from ledgerd.metrics.table import plugins as table
from ledgerd.plugins import supervising
from ledgerd.plugins.messages import MOST_REPORT, PluginOrder, PluginReport, ServedApi
from ledgerd.plugins.supervising import PluginProcess, PluginProcesses
from ledgerd.supervision.health import Health
from ledgerd.supervision.work import Work
from tests.metrics.memories import node_memory
from tests.rpc.loopback import play

ORDER = PluginOrder("rates", "/nowhere", msgspec.Raw(b"{}"), msgspec.Raw(b"{}"), "text")
SAYS = """
import os, socket, sys, time
node = socket.socket(fileno=0)
node.recv(65536)
def say(**report):
    import json
    text = json.dumps(report).encode()
    node.sendall(len(text).to_bytes(4, "big") + text)
"""
NOTE = '{"summary": "Rates.", "methods": [], "schemas": {}}'


def saying(program: str) -> Sequence[str]:
    """The command of a process that says something to the node."""
    return sys.executable, "-S", "-c", SAYS + program


class Watched:
    """A plugin whose pauses take no time, and what its node hears of it."""

    def __init__(self, program: str) -> None:
        self.failures: list[BaseException] = []
        self.health = Health()
        self.work = Work("plugins", is_needed=False)
        self.work.belong(self.failures.append, self.health)
        self.pauses: list[float] = []
        self.has_ended = asyncio.Event()
        self.published: list[list[ServedApi]] = []
        self.process = PluginProcess(ORDER, saying(program), self.work, self._changed, self._sleep)

    def _changed(self) -> None:
        self.published.append([self.process.served] if self.process.served else [])

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.has_ended.set()
        await asyncio.sleep(0)

    async def until_parked(self) -> str:
        await self.process.run()
        assert self.failures == []
        assert self.health.down == {}
        return self.process.parked


def test_one_that_never_works_is_parked_after_ten_starts_with_growing_pauses() -> None:
    async def scene() -> None:
        watched = Watched("sys.exit(7)")
        parked = await watched.until_parked()
        assert parked == "it has failed 10 times in 10 minutes: its process has ended with code 7"
        assert watched.pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
        assert watched.process.starts == 10
        assert watched.health.warnings == (f"the plugin rates is parked until the node is started again: {parked}",)

    play(scene)


def test_an_observer_that_fails_at_the_same_block_again_and_again_has_not_worked() -> None:
    async def scene() -> None:
        watched = Watched("say(works=True, position=9, behind=3); time.sleep(0.01); sys.exit(1)")
        assert "has failed 10 times" in await watched.until_parked()
        assert watched.process.starts == 11

    play(scene)


def test_one_that_is_refused_is_parked_at_once_and_its_reason_shows_no_key() -> None:
    async def scene() -> None:
        watched = Watched("say(refused='no 5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3\\x07'); time.sleep(60)")
        assert await watched.until_parked() == "no (a private key)\\x07"
        assert watched.pauses == []

    play(scene)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("node.sendall(b'\\0\\0\\0\\2{]'); time.sleep(60)", "JSON is malformed"),
        (f"node.sendall(({MOST_REPORT} + 1).to_bytes(4, 'big')); time.sleep(60)", "are the most"),
        ("say(works=5); time.sleep(60)", "Expected `bool`, got `int`"),
        ("say(problem='its applied() has failed at block 7')", "its applied\\(\\) has failed at block 7"),
    ],
)
def test_whatever_its_process_says_the_node_goes_on(program: str, words: str) -> None:
    async def scene() -> None:
        watched = Watched(program)
        watched.process._restarts._failures.extend([watched.work.now()] * 8)  # noqa: SLF001 - it has failed before
        assert re.search(words, await watched.until_parked())
        assert watched.process.starts == 2

    play(scene)


def test_one_that_hangs_is_killed_and_its_api_is_not_there_meanwhile() -> None:
    async def scene() -> None:
        watched = Watched(
            f"import json; say(works=True, timeout=1, api=json.loads('{NOTE}'), port=9, token='t'); time.sleep(60)"
        )
        running = asyncio.ensure_future(watched.process.run())
        await watched.has_ended.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert [each.port for (each,) in watched.published[:2]] == [9, 0]
        assert watched.health.warnings[0].startswith("the plugin rates is down: it did not answer for 1 seconds")

    play(scene)


def test_the_numbers_of_plugins_stand_by_their_names() -> None:
    async def scene() -> None:
        work = Work("plugins")
        plugins = PluginProcesses(
            [ORDER, msgspec.structs.replace(ORDER, name="more")], saying(""), work, lambda _topic, _payload: None
        )
        plugins.processes[1].parked, plugins.processes[1].starts = "for a reason", 3
        plugins.processes[0].is_there, plugins.processes[0].report = True, PluginReport(behind=12)
        with node_memory() as memory:
            plugins.sample(memory.main(("rates", "more")))
            values: Any = memory.values(plugins=("rates", "more"))
        for family, first, second in (
            (table.PLUGIN_RUNNING, 1, 0),
            (table.PLUGIN_PARKED, 0, 1),
            (table.PLUGIN_BEHIND, 12, 0),
            (table.PLUGIN_STARTS, 0, 3),
        ):
            assert [values[family.name]["rates",], values[family.name]["more",]] == [[first], [second]]

    play(scene)
    assert supervising.START_SECONDS < 60
