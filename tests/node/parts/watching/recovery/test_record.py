"""The file of the incidents: read as it was written, and begun again where it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.parts.watching.recovery.part import FILE, read_incidents, write_incidents
from ledgerd.node.parts.watching.recovery.rule import Incident

INCIDENTS = [Incident(1_800_000_000, 77, ["forget the branches"], is_over=True), Incident(1_800_000_900, 99, [])]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_incidents(tmp_path) == []
    write_incidents(tmp_path, INCIDENTS)
    assert read_incidents(tmp_path) == INCIDENTS
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("raw", [b"", b"{", b'[{"began":"x"}]', b"\xff\xfe", b"[1]"])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / FILE).write_bytes(raw)
    assert read_incidents(tmp_path) == []
