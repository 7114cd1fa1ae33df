"""The validator monitor in a node: what it logs, and what metrics and pages see of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import OnBranch
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.validators import monitor
from ledgerd.node.parts.validators.monitor import SLOT_LINES, SLOTS_SHOWN, MonitorPart
from ledgerd.node.parts.validators.tracker import MissCause
from ledgerd.node.parts.validators.watched import Lateness
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import OTHERS, SEVEN, VIZ, VIZ_KEY, key_of, start_seven
from tests.node.contexts import context_of

WATCHED = OTHERS[0]
SOON = 250_000


class HandedTime(TimeSource):
    """A clock that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0

    def wall(self) -> int:
        return self.now

    def seconds(self) -> float:
        return self.now / MICRO


class Blocks:
    """Makes the blocks of the seven validators, each a quarter of a second after its slot began."""

    def __init__(self, chain: Chain, time: HandedTime) -> None:
        self.chain = chain
        self.time = time

    def key(self, name: AccountName) -> PrivateKey:
        return VIZ_KEY if name == VIZ else key_of(name)

    def make(self, slot: int) -> None:
        name, when = self.chain.scheduled_at(slot), self.chain.slot_time(slot)
        self.time.now = when * MICRO + SOON
        self.chain.push_block(self.chain.generate_block(when, name, self.key(name))).or_raise()

    def go_on(self, count: int, *, without: str = "") -> None:
        """So many blocks, none of them by one validator."""
        for _ in range(count):
            self.make(next(slot for slot in range(1, 9) if self.chain.scheduled_at(slot) != without))

    def leave_on_a_branch(self) -> None:
        """A block of the watched validator beside which the chain goes on with that of the next slot."""
        while self.chain.scheduled_at(1) != WATCHED:
            self.go_on(1)
        when = self.chain.slot_time(1)
        block = self.chain.generate_block(when, WATCHED, self.key(WATCHED))
        self.make(2)
        self.time.now = when * MICRO + SOON
        assert self.chain.push_block(block) == OnBranch()


def play(folder: Path, scene: Callable[[Blocks, MonitorPart], None], *names: str) -> None:
    """A node that watches these validators, and whose blocks and time are made by hand."""
    start_seven(folder, blocks=40).chain.close()
    words = {
        "data-dir": [str(folder)],
        "chain": ["testnet"],
        "shared-file-size": ["64M"],
        "validator-monitor": [*names],
    }

    async def run() -> None:
        time, configuration = HandedTime(), read_configuration(words, folder)
        chain = ChainPart(context_of(ChainPart, configuration, time, network=SEVEN))
        part = MonitorPart(context_of(MonitorPart, configuration, time), chain, MagicMock())
        await chain.start()
        await part.start()
        try:
            await chain.run(lambda: scene(Blocks(chain.chain, time), part))
        finally:
            await part.stop()
            await chain.stop()

    asyncio.run(run())


def test_each_slot_is_told_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.go_on(30)
        (seen,) = part.view()
        assert (seen.name, seen.slots, sum(seen.missed.values())) == (WATCHED, seen.made, 0)
        assert seen.made >= 2
        assert seen.lateness == Lateness(seen.made, 0.25, 0.25, 0.25)
        assert (seen.is_scheduled, seen.has_key) == (True, True)
        assert seen.votes > 0

    play(tmp_path, scene, WATCHED)
    assert f"validator-monitor: {WATCHED} made block #" in caplog.text
    assert "seen 0.25 s after its slot began" in caplog.text


def test_the_page_gets_the_latest_slots_of_each(tmp_path: Path) -> None:
    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.go_on(3 * 7 * SLOTS_SHOWN // 2)
        blocks.go_on(30, without=WATCHED)
        (facts,), (seen,) = part.facts(), part.view()
        assert len(facts.slots) == SLOTS_SHOWN
        assert [slot.time for slot in facts.slots] == sorted(slot.time for slot in facts.slots)
        made = [slot for slot in facts.slots if slot.block]
        assert {slot.delay for slot in made} == {250}
        assert {slot.cause for slot in made} == {""}
        assert {slot.cause for slot in facts.slots if not slot.block} == {MissCause.UNSEEN}
        assert (facts.name, facts.made, facts.made + facts.missed) == (WATCHED, seen.made, seen.slots)
        assert (facts.mean_delay, facts.reward, facts.votes) == (250, seen.reward, seen.votes)

    play(tmp_path, scene, WATCHED)


def test_a_missed_slot_is_told_with_its_cause(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.go_on(30, without=WATCHED)
        (seen,) = part.view()
        assert seen.missed[MissCause.UNSEEN] >= 2
        assert (seen.made, seen.lateness) == (0, None)
        assert seen.total_missed >= seen.slots

    play(tmp_path, scene, WATCHED)
    assert f"validator-monitor: {WATCHED} missed its slot " in caplog.text
    assert caplog.text.count(": no block seen") >= 2


def test_a_block_that_was_seen_on_a_branch_is_the_cause(tmp_path: Path) -> None:
    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.leave_on_a_branch()
        blocks.go_on(12, without=WATCHED)
        assert part.view()[0].missed[MissCause.BRANCH] == 1

    play(tmp_path, scene, WATCHED)


def test_lines_of_slots_have_a_rate_of_their_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.go_on(70)
        assert sum(seen.made for seen in part.view()) > 50

    play(tmp_path, scene, *OTHERS, VIZ)
    lines = [record for record in caplog.records if " made block #" in record.getMessage()]
    assert {getattr(record, "rate", None) for record in lines} == {SLOT_LINES}
    assert SLOT_LINES.burst <= 10


def test_a_summary_tells_of_votes_and_rewards(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "SUMMARY_EVERY", 25)
    caplog.set_level(logging.INFO)

    play(tmp_path, lambda blocks, _: blocks.go_on(30), WATCHED)

    assert f"validator-monitor: {WATCHED} since the start: " in caplog.text


def test_a_name_that_is_no_validator_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    play(tmp_path, lambda *_: None, "nobody")

    assert "validator-monitor: there is no validator nobody" in caplog.text


def test_nobody_is_watched_without_the_option(tmp_path: Path) -> None:
    def scene(blocks: Blocks, part: MonitorPart) -> None:
        blocks.go_on(12)
        assert part.view() == ()

    play(tmp_path, scene)
