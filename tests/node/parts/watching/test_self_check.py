"""What the running node finds by itself, and what it notes for the doctor."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ledgerd.doctor.disk import GROWTH_FILE, LITTLE, MOST_SAMPLES, SAMPLE_EVERY, read_samples
from ledgerd.doctor.ports import INBOUND_FILE, RECENT, last_inbound
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.watching.self_check import SelfCheckPart
from ledgerd.supervision.part import Supervisor
from tests.doctor.broken_node import MEMORY, Usage
from tests.node.contexts import context_of

NOW = 1_800_000_000


class Surface:
    """The chain's thread and the peers, as far as the part uses them."""

    has_inbound = False

    async def run(self, job: Callable[[], object]) -> object:
        return job()


class Bed:
    """The part with its clock, disk, memory and peers in a test's hand."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.now = NOW
        self.offset: int | None = None
        self.surface = Surface()
        self.supervisor = Supervisor()
        (folder / "proc").mkdir()
        self.memory = folder / "proc/meminfo"
        self.memory.write_text(MEMORY.format(4_000_000))
        self.monkeypatch = monkeypatch
        self.set_free(100 * LITTLE)
        words = {"data-dir": [str(folder)], "p2p-endpoint": ["127.0.0.1:2001"]}
        self.part = SelfCheckPart(
            context_of(SelfCheckPart, read_configuration(words, folder), SimpleNamespace(machine_second=self._second)),
            cast("ChainPart", self.surface),
            cast("PeersPart", self.surface),
            cast("ProductionPart", self),
            folder,
        )
        self.supervisor.add(self.part)

    def _second(self) -> int:
        return self.now

    @property
    def clock_offset(self) -> int | None:
        """As production knows it."""
        return self.offset

    def set_free(self, free: int) -> None:
        self.monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free * 2, free, free))

    @property
    def warned(self) -> list[str]:
        return [each.partition(":")[0] for each in self.supervisor.health.warnings]


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    return Bed(tmp_path, monkeypatch)


def play(scene: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await scene()

    asyncio.run(run())


def test_a_sound_node_warns_of_nothing(bed: Bed) -> None:
    play(bed.part.check)

    assert bed.warned == []


def test_what_is_found_stands_in_ready_until_it_is_over(bed: Bed, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        bed.set_free(LITTLE - 1)
        bed.memory.write_text(MEMORY.format(100_000))
        bed.offset = 700_000
        await bed.part.check()
        await bed.part.check()
        assert bed.warned == ["disk-nearly-full", "memory-low", "clock-wrong"]
        assert "(docs/doctor.md#disk-nearly-full)" in bed.supervisor.health.warnings[0]
        bed.set_free(100 * LITTLE)
        bed.offset = 0
        await bed.part.check()
        assert bed.warned == ["memory-low"]

    play(scene)
    assert caplog.text.count("found by the node itself: disk-nearly-full") == 1


def test_an_inbound_peer_is_noted_for_the_doctor(bed: Bed) -> None:
    play(bed.part.check)
    assert not (bed.folder / INBOUND_FILE).exists()

    bed.surface.has_inbound = True
    play(bed.part.check)
    assert last_inbound(bed.folder) == NOW


def test_a_node_that_runs_for_an_hour_without_an_inbound_peer_says_so(bed: Bed) -> None:
    bed.now += RECENT
    play(bed.part.check)
    assert bed.warned == []

    bed.now += 1
    play(bed.part.check)
    assert bed.warned == ["not-shown-reachable"]

    bed.surface.has_inbound = True
    play(bed.part.check)
    assert bed.warned == []


def test_a_sample_of_the_growth_is_kept_each_hour_for_a_week(bed: Bed) -> None:
    async def scene() -> None:
        for _ in range(MOST_SAMPLES + 5):
            await bed.part.check()
            bed.now += SAMPLE_EVERY // 2
            await bed.part.check()
            bed.now += SAMPLE_EVERY // 2

    play(scene)
    samples = read_samples(bed.folder)
    assert len(samples) == MOST_SAMPLES
    assert {later - earlier for (earlier, _), (later, _) in itertools.pairwise(samples)} == {SAMPLE_EVERY}
    assert samples[-1][1] > 0


def test_a_damaged_file_of_samples_is_begun_anew(bed: Bed) -> None:
    (bed.folder / GROWTH_FILE).write_text("{")
    play(bed.part.check)

    assert len(read_samples(bed.folder)) == 1


def test_a_disk_that_takes_no_write_is_told_and_ends_nothing(bed: Bed) -> None:
    (bed.folder / f"{GROWTH_FILE}.new").mkdir()
    bed.set_free(0)
    play(bed.part.check)

    assert bed.warned == ["disk-not-writable", "disk-nearly-full"]
