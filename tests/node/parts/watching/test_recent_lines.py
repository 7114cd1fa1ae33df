"""The latest lines of the log, for the operator's page."""

from __future__ import annotations

import logging

from ledgerd.node.parts.watching.status import LINES_KEPT, LONGEST_LINE, RecentLines
from ledgerd.protocol.secrets import HIDDEN
from tests.logs import KEY, made


def test_the_latest_lines_are_kept_short_and_without_keys() -> None:
    lines = RecentLines()
    for number in range(LINES_KEPT + 5):
        lines.handle(made("block %(block)d", {"block": number}))
    lines.handle(made("%(text)s", {"text": f"{KEY} {'x' * 1_000}"}))

    assert len(lines.lines) == LINES_KEPT
    assert lines.lines[0].endswith("warn: block 6")
    assert HIDDEN in lines.lines[-1]
    assert len(lines.lines[-1]) == LONGEST_LINE


def test_it_listens_to_the_program_from_its_begin_to_its_end() -> None:
    lines, log = RecentLines(), logging.getLogger("ledgerd.somewhere")
    lines.begin()
    log.warning("one")
    lines.end()
    log.warning("two")

    assert [line.partition("  ")[2] for line in lines.lines] == ["warn: one"]
