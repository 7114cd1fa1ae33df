"""The network whose node the clients of these tests ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.networks import Network, started_network


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    with started_network(tmp_path) as network:
        yield network
