from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chain.networks import Network
from tests.node.parts.two_snapshots import Made, written


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A chain that goes on for five blocks between its two snapshots."""
    network = Network(tmp_path_factory.mktemp("source"))
    network.start()
    older = written(network, tmp_path_factory.mktemp("older"))
    network.produce(5)
    yield Made(older, written(network, tmp_path_factory.mktemp("newer")), network)
    network.chain.close()
