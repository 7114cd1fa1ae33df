from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state import Store
from tests.state.items import TABLES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty state of the tests' own tables."""
    with Store.open(tmp_path, TABLES) as store:
        yield store
