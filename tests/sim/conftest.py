from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.signatures import recover
from tests.sim.grounds import Grounds
from tests.sim.wires import Weather
from tests.sim.world import World

Build = Callable[..., World]

RECOVERED = lru_cache(1 << 14)(recover)
"""Recovery of the key of a signature, once for all nodes: it depends on nothing else, and is a fifth of all work."""


@pytest.fixture(autouse=True)
def _recovered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.protocol.blocks.block.recover", RECOVERED)
    monkeypatch.setattr("ledgerd.protocol.blocks.transaction.recover", RECOVERED)


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Grounds:
    return Grounds(tmp_path_factory.mktemp("sim") / "grounds")


@pytest.fixture
def build(tmp_path: Path, grounds: Grounds) -> Iterator[Build]:
    """Worlds of nodes that all know the first blocks, and share the validators' keys; each dials those before it."""
    worlds: list[World] = []

    def world(seed: int, count: int, **weather: float) -> World:
        worlds.append(grounds.world(seed, tmp_path / str(len(worlds)), count, Weather(**weather)))
        return worlds[-1]

    yield world
    for each in worlds:
        each.close()
