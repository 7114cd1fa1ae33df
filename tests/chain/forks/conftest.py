"""Nodes at the same block, and those who send blocks to them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.chain.forks.branches import Fresh
from tests.chain.networks import OTHERS, SEVEN, Network, key_of, start_seven
from tests.chain.senders import SENDERS, Sender


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seven") / "base"
    network = start_seven(folder)
    network.chain.close()
    return folder


@pytest.fixture
def fresh(base: Path, tmp_path: Path) -> Iterator[Fresh]:
    """Nodes that stand at the same block, as many as a test wants."""
    numbers = count()
    opened: list[Network] = []

    def make() -> Network:
        folder = tmp_path / str(next(numbers))
        shutil.copytree(base, folder)
        opened.append(Network(folder, SEVEN))
        opened[-1].keys |= {name: key_of(name) for name in OTHERS}
        return opened[-1]

    yield make
    for network in opened:
        network.chain.close()


@pytest.fixture(params=SENDERS)
def send(request: pytest.FixtureRequest) -> Sender:
    """Each of those who give a chain its blocks."""
    return SENDERS[request.param]
