"""What goes wrong with the disk is said as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.archive.arriving import SPAN_SECONDS, Arriving, SourcePace
from ledgerd.archive.errors import ArchiveUnwritable, SourceFault

FULL = Path("/dev/full")


def test_a_file_is_continued_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with Arriving(path) as arriving:
        arriving.write(b"one two")
        assert arriving.place == 7
    with Arriving(path, 4) as arriving:
        arriving.write(b"three")
    assert path.read_bytes() == b"one three"
    with Arriving(path):
        pass
    assert path.read_bytes() == b""


@pytest.mark.skipif(not FULL.exists(), reason="no file that takes nothing")
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_a_full_disk_is_said(size: int) -> None:
    with (
        pytest.raises(ArchiveUnwritable, match="/dev/full cannot be written: No space left"),
        Arriving(FULL) as arriving,
    ):
        arriving.write(bytes(size))


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "archive").touch()
    with pytest.raises(ArchiveUnwritable, match="cannot be written"):
        Arriving(tmp_path / "archive" / "file")


def test_a_source_that_sends_enough_in_each_span_goes_on_for_ever_and_is_given_up_in_the_first_that_it_does_not() -> (
    None
):
    now = [0.0]
    pace = SourcePace("somebody", 60, "blocks", lambda: now[0])
    for _ in range(100):
        now[0] += SPAN_SECONDS / 2
        pace.count(0)
        now[0] += SPAN_SECONDS / 2
        pace.count(60)
    pace.count(59)
    now[0] += SPAN_SECONDS - 1
    pace.count(0)
    now[0] += 1
    with pytest.raises(SourceFault, match="somebody is too slow: it sends fewer than 60 blocks in 60 s"):
        pace.count(0)
