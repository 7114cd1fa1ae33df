"""The file that says how a followed directory stands: written whole, and read again when it is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.state.views.serving_status import (
    MOST_BYTES,
    SERVING_STATUS_FILE,
    UNREADABLE,
    ServingStatus,
    ServingStatusFile,
    write_serving_status,
)


def test_each_standing_that_is_written_is_read(tmp_path: Path) -> None:
    file = ServingStatusFile(tmp_path)
    assert file.read() is None
    for standing in (ServingStatus(behind=3), ServingStatus("the digest differs", 7), ServingStatus()):
        write_serving_status(tmp_path, standing)
        assert file.read() == standing
        assert file.read() == standing
    (tmp_path / SERVING_STATUS_FILE).unlink()
    assert file.read() is None


@pytest.mark.parametrize("text", [b"", b"{", b'{"reason":1}', b"\xff\xfe", b" " * MOST_BYTES + b"{}"])
def test_a_file_that_says_something_else_is_a_reason_not_to_serve(text: bytes, tmp_path: Path) -> None:
    file = ServingStatusFile(tmp_path)
    (tmp_path / SERVING_STATUS_FILE).write_bytes(text)
    assert file.read() == ServingStatus(UNREADABLE)
