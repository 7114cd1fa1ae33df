from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.p2p.shared.settings import Settings
from tests.chain.networks import OTHERS, SEVEN, SMALL, Network, key_of, start_seven
from tests.p2p.scripted_talk import Talk


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a node that knows 112 blocks of a network of seven validators."""
    folder = tmp_path_factory.mktemp("grown")
    start_seven(folder).chain.close()
    return folder


@pytest.fixture
def chain(grown: Path, tmp_path: Path) -> Iterator[Chain]:
    """A node's chain of 112 blocks, to be changed at will."""
    shutil.copytree(grown, tmp_path / "chain")
    with Chain.open(tmp_path / "chain", SEVEN, clock=lambda: 0.0, space=SMALL) as chain:
        yield chain


@pytest.fixture
def others(grown: Path, tmp_path: Path) -> Iterator[Network]:
    """The rest of the network, which can go on making blocks."""
    shutil.copytree(grown, tmp_path / "others")
    network = Network(tmp_path / "others", SEVEN)
    network.keys |= {name: key_of(name) for name in OTHERS}
    yield network
    network.chain.close()


@pytest.fixture
def talk(chain: Chain) -> Talk:
    """A node with these blocks among peers."""
    return Talk(chain)


Begin = Callable[[Settings], Talk]


@pytest.fixture
def talk_with(chain: Chain) -> Begin:
    """The same with other settings."""
    return lambda settings: Talk(chain, settings)
