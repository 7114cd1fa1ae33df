"""What writes to a stream. On a terminal, the progress of long work is one line that is written over."""

from __future__ import annotations

import logging
import os
import shutil
from typing import TextIO

from ledgerd.node.config.logging.lines import EventLine, JsonLine, message_of
from ledgerd.supervision.progress import ProgressStep

CLEAR = "\r\x1b[K"


def step_of(record: logging.LogRecord) -> ProgressStep | None:
    step: ProgressStep | None = getattr(record, "progress", None)
    return step


def stays(record: logging.LogRecord) -> bool:
    """Whether a record is written where lines stay: of progress, a line now and then."""
    step = step_of(record)
    return step is None or step.is_line


class Console(logging.StreamHandler[TextIO]):
    """Writes lines to a stream, and keeps the progress at the bottom of a terminal."""

    def __init__(self, stream: TextIO, form: logging.Formatter) -> None:
        super().__init__(stream)
        self.setFormatter(form)
        is_text = not isinstance(form, EventLine | JsonLine)
        self._overwrites = is_text and stream.isatty() and os.environ.get("TERM") != "dumb"
        self._status = ""

    def emit(self, record: logging.LogRecord) -> None:
        if not self._overwrites:
            if stays(record) and not self.stream.closed:
                super().emit(record)
            return
        step = step_of(record)
        if step is None:
            self._put(f"{CLEAR}{self.format(record)}\n{self._status}")
            return
        line = self._cut(message_of(record))
        self._status = "" if step.is_last else line
        self._put(f"{CLEAR}{line}\n" if step.is_last else f"{CLEAR}{line}")

    def close(self) -> None:
        """Leave the last progress as a line."""
        if self._status:
            self._status = ""
            self._put("\n")
        super().close()

    def _cut(self, line: str) -> str:
        return line[: shutil.get_terminal_size().columns - 1]

    def _put(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the terminal is gone, or the stream was closed before
            self._status = ""
