from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doctor.doubles import Surroundings
from tests.doctor.ward import Ward, built


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A data directory to copy, and the time of its head."""
    folder = tmp_path_factory.mktemp("doctor") / "node"
    return folder, built(folder)


@pytest.fixture
def ward(tmp_path: Path, source: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> Iterator[Ward]:
    folder, now = source
    shutil.copytree(folder, tmp_path / "node")
    with Surroundings(now) as around:
        yield Ward(tmp_path, around, monkeypatch)
