"""Files that somebody else has made: what is no file is not waited for, and what is too large not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledgerd.basics.durable import open_file, read_file


def test_a_file_is_read_whole_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_file(file, 5) == b"12345"
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_file(file, 4)
    with open_file(file) as opened:
        assert opened.read() == b"12345"


def test_of_a_file_without_an_end_no_more_than_the_bound_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(OSError, match="it has more than 1,000 bytes"):
        read_file(file, 1_000)


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_file(tmp_path / "link", 1) == b"1"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match="it is a pipe or a device, and no file"):
            open_file(path)


def test_what_is_not_there_or_a_folder_is_told_as_the_system_tells_it(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path, 1)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "nothing", 1)
