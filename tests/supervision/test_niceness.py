"""Processes that give way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ledgerd.supervision.niceness import give_way


def test_a_process_gives_way() -> None:
    program = "import os; from ledgerd.supervision.niceness import give_way; give_way(3); print(os.nice(0))"
    before = os.nice(0)

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own program

    assert int(said.stdout) == min(19, before + 3)


def test_a_system_that_forbids_it_is_told_of_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_steps: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refuse)
    give_way(5)

    assert "the priority of this process cannot be lowered: Operation not permitted" in caplog.text
