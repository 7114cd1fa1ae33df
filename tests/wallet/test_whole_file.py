"""Files as a whole: what a full disk, another user of a folder, and a crash leave."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.whole_file import replace_whole, write_new

Write = Callable[[Path, bytes], None]


@pytest.mark.parametrize("write", [write_new, replace_whole])
def test_a_file_is_written_for_its_owner_alone_and_flushed_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    flushed: list[bool] = []
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        flushed.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write(tmp_path / "file", b"content")

    assert (tmp_path / "file").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    assert flushed == [False, True], "the file, then its folder"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("write", [write_new, replace_whole])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_on_a_full_disk_the_old_file_stays_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, number: int
) -> None:
    path = tmp_path / "file"
    if write is replace_whole:
        path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WalletError, match="cannot be written: the disk is full"):
        write(path, b"new")

    left = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert left == ({"file": b"old"} if write is replace_whole else {})


def test_links_that_another_user_has_laid_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"kept")
    for name in ("file", "file.new"):
        (tmp_path / name).symlink_to(victim)
    with pytest.raises(WalletError, match="exists: choose another file"):
        write_new(tmp_path / "file", b"new")
    (tmp_path / "nowhere").symlink_to(tmp_path / "not there")
    with pytest.raises(WalletError, match="exists: choose another file"):
        write_new(tmp_path / "nowhere", b"new")

    replace_whole(tmp_path / "file", b"new")

    assert (victim.read_bytes(), (tmp_path / "file").read_bytes()) == (b"kept", b"new")
    assert not (tmp_path / "file").is_symlink()
    assert not (tmp_path / "not there").exists()


@pytest.mark.parametrize("write", [write_new, replace_whole])
def test_a_folder_that_is_not_there_is_said(tmp_path: Path, write: Write) -> None:
    with pytest.raises(WalletError, match="cannot be written: No such file or directory"):
        write(tmp_path / "none" / "file", b"new")
