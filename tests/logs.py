"""Records of a log, as its handlers and forms get them."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ledgerd.node.config.logging.handlers import Limited

KEY = "5K" + "a" * 49
MOMENT = 1_795_179_600.25


def made(
    text: str = "Got block #%d", values: object = 7, *, level: int = logging.WARNING, line: int = 42
) -> logging.LogRecord:
    record = logging.LogRecord("ledgerd.p2p", level, "/src/peers.py", line, text, (values,), None, "on_block")
    record.created = MOMENT
    record.threadName = "MainThread"
    return record


def failed(value: str = "no number") -> logging.LogRecord:
    """A record with a traceback, which quotes a value."""
    record = made()
    try:
        int(value)
    except ValueError as error:
        record.exc_info = (type(error), error, error.__traceback__)
    return record


class KeptLines(logging.Handler):
    """A log in memory."""

    def __init__(self, level: int = 0) -> None:
        super().__init__(level)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


class LimitedAt(Limited):
    """Limits lines by another clock than that of the machine."""

    def __init__(self, now: Callable[[], float], target: logging.Handler) -> None:
        super().__init__([target])
        self._now = now

    def emit(self, record: logging.LogRecord) -> None:
        record.created = self._now()
        super().emit(record)
