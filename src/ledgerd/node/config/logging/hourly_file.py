"""A log file for each hour, in UTC, kept for a day, and a link to the latest (spec 06, section 6)."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from ledgerd.basics.durations import HOUR
from ledgerd.node.config.logging.console import stays

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
