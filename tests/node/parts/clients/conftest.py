"""The network whose node the clients of these tests ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.networks import Network


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = Network(tmp_path)
    network.start()
    yield network
    network.chain.close()
