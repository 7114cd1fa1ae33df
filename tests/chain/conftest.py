from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from tests.chain.ledgers import close_all, fresh_ledger
from tests.chain.market_scenes import market_ledger
from tests.chain.networks import Network, started_network


@pytest.fixture(autouse=True)
def _close_ledgers() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger after the last hardfork."""
    return fresh_ledger(tmp_path)


@pytest.fixture
def ledger_at(tmp_path: Path) -> Callable[[int], Ledger]:
    """Ledgers after the hardforks that a test asks for."""
    return lambda hardfork: fresh_ledger(tmp_path / str(hardfork), hardfork)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """A private network after the last hardfork."""
    with started_network(tmp_path) as network:
        yield network


@pytest.fixture
def markets(tmp_path: Path) -> Ledger:
    """A ledger after hardfork 15, with accounts that have tokens, and no market yet."""
    return market_ledger(tmp_path)
