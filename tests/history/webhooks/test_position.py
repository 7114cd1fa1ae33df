"""A position survives a kill: it is replaced in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.history.webhooks.position import HookPosition, position_file, read_position, write_position
from ledgerd.history.webhooks.settings import Webhook

HOOK = Webhook("http://127.0.0.1/", "/secret")
POSITION = HookPosition(7, 2, {5: "aa", 6: "bb"}, (6,), failures=3, behind=9, ended="full")


def test_what_is_stored_is_read(tmp_path: Path) -> None:
    file = position_file(tmp_path, HOOK)
    assert read_position(file) == HookPosition()
    write_position(file, POSITION)
    assert read_position(file) == POSITION


def test_what_was_being_written_at_a_kill_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = position_file(tmp_path, HOOK)
    write_position(file, POSITION)

    def killed(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        write_position(file, HookPosition(8))
    assert read_position(file) == POSITION


def test_another_secret_is_the_same_hook_and_another_url_is_not() -> None:
    folder = Path("folder")
    assert position_file(folder, HOOK) == position_file(folder, Webhook(HOOK.url, "/other"))
    assert position_file(folder, HOOK) != position_file(folder, Webhook("http://127.0.0.1/x", "/secret"))
