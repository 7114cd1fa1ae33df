"""The file that says how a followed directory stands: written whole, and read again when it is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.state.views.standing import (
    MOST_BYTES,
    STANDING_FILE,
    UNREADABLE,
    FollowedStanding,
    StandingFile,
    write_standing,
)


def test_each_standing_that_is_written_is_read(tmp_path: Path) -> None:
    file = StandingFile(tmp_path)
    assert file.look() is None
    for standing in (FollowedStanding(behind=3), FollowedStanding("the digest differs", 7), FollowedStanding()):
        write_standing(tmp_path, standing)
        assert file.look() == standing
        assert file.look() == standing
    (tmp_path / STANDING_FILE).unlink()
    assert file.look() is None


@pytest.mark.parametrize("text", [b"", b"{", b'{"reason":1}', b"\xff\xfe", b" " * MOST_BYTES + b"{}"])
def test_a_file_that_says_something_else_is_a_reason_not_to_serve(text: bytes, tmp_path: Path) -> None:
    file = StandingFile(tmp_path)
    (tmp_path / STANDING_FILE).write_bytes(text)
    assert file.look() == FollowedStanding(UNREADABLE)
