"""The latest lines of the log, for the page of the operator."""

from __future__ import annotations

import logging
from collections import deque

from ledgerd.node.config.logging.console import stays
from ledgerd.node.config.logging.lines import PACKAGE, PersonLine

KEPT, LONGEST = 40, 400
"""Lines, and characters of each."""


class RecentLines(logging.Handler):
    """Keeps the latest lines at info and above."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(PersonLine())
        self._lines: deque[str] = deque(maxlen=KEPT)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def emit(self, record: logging.LogRecord) -> None:
        if stays(record):
            self._lines.append(self.format(record)[:LONGEST])

    def begin(self) -> None:
        logging.getLogger(PACKAGE).addHandler(self)

    def end(self) -> None:
        logging.getLogger(PACKAGE).removeHandler(self)
