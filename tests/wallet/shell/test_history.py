"""Lines are kept for the next time, and none with a secret."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.wallet.shell.history import LineHistory

KEY = PrivateKey(b"\7" * 32)


def kept(path: Path) -> list[str]:
    return [*LineHistory(path).load_history_strings()]


def test_lines_are_there_the_next_time_the_latest_first(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history = LineHistory(path)
    for line in ("key list", "show account alice"):
        history.store_string(line)

    assert kept(path) == ["show account alice", "key list"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        f"key import {KEY.wif}",
        f'call transfer \'{{"memo":"{KEY.secret.hex()}"}}\'',
        'transfer alice bob "1.000 VIZ" --memo "#our secret"',
        "transfer alice bob '1.000 VIZ' --memo=#secret",
        "two\nlines",
    ],
)
def test_a_line_that_may_hold_a_secret_is_not_kept(tmp_path: Path, line: str) -> None:
    path = tmp_path / "history"
    LineHistory(path).store_string(line)

    assert kept(path) == []


def test_without_a_file_there_is_no_history(tmp_path: Path) -> None:
    history = LineHistory(tmp_path / "nowhere" / "history")
    history.store_string("key list")
    assert [*history.load_history_strings()] == []


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "history").symlink_to(tmp_path / "victim")
    LineHistory(tmp_path / "history").store_string("key list")
    assert not (tmp_path / "victim").exists()
