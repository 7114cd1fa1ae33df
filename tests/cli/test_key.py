"""`ledgerd key`: makes a private key and prints only the public one."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.protocol.keys import PrivateKey, public_key_text


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
