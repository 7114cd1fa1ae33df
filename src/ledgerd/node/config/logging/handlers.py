"""Where lines of the log go: a stream, or a file for each hour, in UTC (spec 06, section 6), as their rates allow."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TextIO

from ledgerd.basics.durations import HOUR
from ledgerd.node.config.logging.lines import EventLine, JsonLine, message_of
from ledgerd.supervision.line_rates import USUAL, LineRate, LineRates
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
    """Writes log lines to a stream, and keeps the progress line at the bottom of a terminal."""

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
        line = message_of(record)[: shutil.get_terminal_size().columns - 1]
        self._status = "" if step.is_last else line
        self._put(f"{CLEAR}{line}\n" if step.is_last else f"{CLEAR}{line}")

    def close(self) -> None:
        if self._status:
            self._status = ""
            self._put("\n")
        super().close()

    def _put(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the terminal is gone, or the stream was closed before
            self._status = ""


KEPT = timedelta(days=1)
STAMP = "%Y%m%dT%H%M%S"


class HourlyFile(logging.Handler):
    """Writes each message to the file of its hour, and flushes it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._hour = -1
        self._stream: IO[str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message; errors of the disk are reported as `logging` reports its own."""
        if not stays(record):
            return
        try:
            hour = int(record.created) // HOUR
            if self._stream is None or hour != self._hour:
                self._stream = self._open(hour)
            self._stream.write(self.format(record) + "\n")
            self._stream.flush()
        except OSError:
            self.handleError(record)

    def close(self) -> None:
        self.acquire()
        try:
            if self._stream is not None:
                self._stream.close()
                self._stream = None
        finally:
            self.release()
        super().close()

    def _open(self, hour: int) -> IO[str]:
        if self._stream is not None:
            self._stream.close()
        began = datetime.fromtimestamp(hour * HOUR, UTC)
        current = self.path.with_name(f"{self.path.name}.{began.strftime(STAMP)}")
        current.parent.mkdir(parents=True, exist_ok=True)
        stream = current.open("a", encoding="utf-8", errors="backslashreplace")
        self.path.unlink(missing_ok=True)
        self.path.hardlink_to(current)
        self._delete_older(began - KEPT)
        self._hour = hour
        return stream

    def _delete_older(self, limit: datetime) -> None:
        for path in self.path.parent.glob(f"{self.path.name}.*"):
            try:
                began = datetime.strptime(path.name[len(self.path.name) + 1 :], STAMP).replace(tzinfo=UTC)
            except ValueError:
                continue
            if began < limit:
                path.unlink(missing_ok=True)


class Limited(logging.Handler):
    """Passes lines on as the rates of their kinds allow; a later line of any kind says how many were left out."""

    def __init__(self, targets: Sequence[logging.Handler]) -> None:
        super().__init__()
        self.targets = targets
        self._rates = LineRates()
        self._examples: dict[Hashable, logging.LogRecord] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.INFO and getattr(record, "progress", None) is None:
            rate: LineRate = getattr(record, "rate", USUAL)
            kind: Hashable = rate.kind or (record.pathname, record.lineno)
            is_admitted = self._rates.admits(kind, rate, record.created)
            self._write_counts(record.created)
            if not is_admitted:
                self._examples[kind] = record
                return
        self._pass_on(record)

    def close(self) -> None:
        self._write_counts(float("inf"))
        for target in self.targets:
            target.close()
        super().close()

    def _write_counts(self, now: float) -> None:
        for kind, count in self._rates.due(now):
            example = self._examples.pop(kind)
            what = f"more {kind} were" if isinstance(kind, str) else f"more lines like '{example.getMessage()}' were"
            fields: dict[str, object] = {"left_out": count, "what": what}
            text = "%(left_out)d %(what)s left out"
            line = logging.LogRecord(
                example.name, example.levelno, example.pathname, example.lineno, text, (fields,), None, example.funcName
            )
            line.created, line.threadName = example.created if now == float("inf") else now, example.threadName
            self._pass_on(line)

    def _pass_on(self, record: logging.LogRecord) -> None:
        for target in self.targets:
            if record.levelno >= target.level:
                target.handle(record)
