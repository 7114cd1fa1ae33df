"""`ledgerd key`: makes a private key and prints only the public one."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.state.files.lock import lock_writer


def test_a_new_key_is_for_its_owner_alone_and_never_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "signing.key"

    assert main(["key", str(file)]) == 0

    key = PrivateKey.from_wif(file.read_text().strip())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert capsys.readouterr().out == public_key_text(key.public) + "\n"


def test_a_key_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["key", str(tmp_path / "signing.key")]) == 0

    first, second = capsys.readouterr().out.splitlines()
    assert first == second


@pytest.mark.parametrize("content", ["", "5J9DBCRX", "\xff"])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "letter.txt"
    file.write_text(content)

    assert main(["key", str(file)]) == 1

    assert "holds no private key in WIF" in capsys.readouterr().err
    assert file.read_text() == content


def test_a_place_that_cannot_be_written_to_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["key", str(tmp_path / "nowhere" / "signing.key")]) == 1
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def test_one_more_key_is_added_and_the_first_one_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "signing.key"
    for more in ((), ("--add",), ()):
        assert main(["key", str(file), *more]) == 0
    first, added, *both = capsys.readouterr().out.splitlines()

    assert both == [first, added]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert main(["key", str(file), "--remove", first]) == 0
    assert capsys.readouterr().out.splitlines() == [added]
    assert main(["key", str(file), "--remove", first]) == 1
    assert f"has no private key of {first}" in capsys.readouterr().err


def test_where_no_node_runs_none_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["key", str(tmp_path / "signing.key"), "--data-dir", str(tmp_path)]) == 1
    assert "no node runs with the data directory" in capsys.readouterr().err


def test_a_node_that_does_not_read_its_keys_again_is_not_signalled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_writer(tmp_path):
        assert main(["key", str(tmp_path / "signing.key"), "--data-dir", str(tmp_path)]) == 1
    assert "reads key files only when it starts" in capsys.readouterr().err


def test_on_a_full_disk_no_file_without_a_key_is_left_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ledgerd.cli.tools.key.sync", full)
    assert main(["key", str(tmp_path / "signing.key")]) == 1
    assert "signing.key cannot be written: No space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
