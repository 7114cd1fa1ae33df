from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doctor.broken_node import BrokenNode, built
from tests.doctor.doubles import SectionContext


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A data directory to copy, and the time of its head."""
    folder = tmp_path_factory.mktemp("doctor") / "node"
    return folder, built(folder)


@pytest.fixture
def broken(tmp_path: Path, source: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> Iterator[BrokenNode]:
    folder, now = source
    shutil.copytree(folder, tmp_path / "node")
    with SectionContext(now) as around:
        yield BrokenNode(tmp_path, around, monkeypatch)
