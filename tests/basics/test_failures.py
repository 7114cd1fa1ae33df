"""Failures in words."""

from __future__ import annotations

import pytest

from ledgerd.basics.failures import reason_of


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (TimeoutError(), "no answer in time"),
        (TimeoutError(110, "Connection timed out"), "no answer in time"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (FileNotFoundError(2, "No such file or directory", "block_log"), "block_log: No such file or directory"),
        (ValueError("a height below zero"), "a height below zero"),
        (ValueError(), "ValueError"),
    ],
)
def test_a_failure_is_told_in_words(problem: Exception, words: str) -> None:
    assert reason_of(problem) == words
