"""What a terminal shows of progress, and what a file or a pipe keeps of it."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence

import pytest

from ledgerd.node.config.logging.handlers import CLEAR, Console
from ledgerd.node.config.logging.lines import EventLine, PersonLine
from ledgerd.supervision.progress import ProgressLine, shown
from tests.logs import made


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def of_progress(times: Sequence[float]) -> list[logging.LogRecord]:
    """Records of work that does a hundred blocks a second, of a thousand."""
    line, records = ProgressLine("replaying", 0, 0.0), []
    for now in times:
        step = line.at(round(100 * now), 1_000, now)
        assert step is not None
        record = made("%s", step.text)
        vars(record).update(shown(step))
        records.append(record)
    return records


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


def test_on_a_terminal_progress_is_one_line_below_the_others() -> None:
    stream = Terminal()
    console = Console(stream, PersonLine())
    for record in of_progress([1.0, 2.0]):
        console.handle(record)
    console.handle(made("a branch", {"n": 1}))

    first, second, third = stream.getvalue().split(CLEAR)[1:]
    assert first == "replaying: block 100 of 1,000 (10 %), 100 blocks/s, 9 s left"[:59]
    assert second == "replaying: block 200 of 1,000 (20 %), 100 blocks/s, 8 s left"[:59]
    assert third.endswith(f"warn: a branch\n{second}")


def test_on_a_terminal_the_end_stays_as_a_line() -> None:
    stream = Terminal()
    console = Console(stream, PersonLine())
    for record in of_progress([1.0, 10.0]):
        console.handle(record)
    console.close()
    last = "replaying: block 1,000 of 1,000 (100 %), 100 blocks/s, 0 s left"[:59]
    assert stream.getvalue().endswith(f"{CLEAR}{last}\n")


def test_progress_that_has_no_end_is_left_as_a_line() -> None:
    stream = Terminal()
    console = Console(stream, PersonLine())
    console.handle(*of_progress([1.0]))
    console.close()
    assert stream.getvalue().endswith("\n")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["a pipe", "a terminal with JSON"])
def test_elsewhere_a_line_is_written_now_and_then(stream: io.StringIO) -> None:
    console = Console(stream, EventLine() if stream.isatty() else PersonLine())
    for record in of_progress([each / 2 for each in range(1, 21)]):
        console.handle(record)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "block 500 of 1,000" in lines[0]
    assert "block 1,000 of 1,000" in lines[1]
    assert CLEAR not in stream.getvalue()


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    stream = Terminal()
    console = Console(stream, PersonLine())
    stream.close()
    console.handle(*of_progress([1.0]))
    console.close()
