"""The forms of a log line. It is one event: what a terminal would obey is written as escapes, and no private key is."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Mapping
from datetime import UTC, datetime

from ledgerd.basics.printable import printable, printable_lines
from ledgerd.protocol.secrets import without_keys

PACKAGE = "ledgerd"
WORDS = {logging.WARNING: "warn", logging.CRITICAL: "error"}


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _level(record: logging.LogRecord) -> str:
    return WORDS.get(record.levelno, record.levelname.lower())


def message_of(record: logging.LogRecord) -> str:
    return printable(without_keys(record.getMessage()))


def exception_of(record: logging.LogRecord, formatter: logging.Formatter) -> str:
    return printable_lines(without_keys(formatter.formatException(record.exc_info))) if record.exc_info else ""


class ConsoleLine(logging.Formatter):
    """Time, thread, place and method in columns, then the message (spec 06, section 6)."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{self._columns(record)}{message_of(record)}"
        traceback = exception_of(record, self)
        return f"{line}\n{traceback}" if traceback else line

    def _columns(self, record: logging.LogRecord) -> str:
        moment = _time(record)
        place = f"{record.filename}:{record.lineno} "
        return (
            f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03} {(record.threadName or '')[:9]:<10}"
            f"{place:<30}{record.funcName or '':<20.20} ] "
        )


class FileLine(ConsoleLine):
    """The same line, with the place repeated after the message."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{super().format(record)}\t\t\t{record.filename}:{record.lineno}"


class PersonLine(ConsoleLine):
    """The time and the message, for somebody who watches: `ledgerd dev` and commands that take long."""

    def _columns(self, record: logging.LogRecord) -> str:
        word = f"{_level(record)}: " if record.levelno >= logging.WARNING else ""
        return f"{_time(record).astimezone():%H:%M:%S}  {word}"


class JsonLine(logging.Formatter):
    """One JSON object a line, with the keys of the reference."""

    def __init__(self) -> None:
        super().__init__()
        self.host = socket.gethostname()

    def format(self, record: logging.LogRecord) -> str:
        message, traceback = without_keys(record.getMessage()), exception_of(record, self)
        return json.dumps(
            {
                "level": _level(record),
                "file": record.filename,
                "line": record.lineno,
                "method": record.funcName,
                "hostname": self.host,
                "thread_name": record.threadName,
                "timestamp": _time(record).isoformat(timespec="milliseconds").removesuffix("+00:00"),
                "context": record.name,
                "format": f"{message}\n{traceback}" if traceback else message,
                "data": {},
            }
        )


class EventLine(logging.Formatter):
    """One JSON object a line: the event, and its values as fields. This is `log-format = json`."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {
            "time": _time(record).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": _level(record),
            "room": room_of(record.name),
            "logger": record.name,
            "message": message_of(record),
            "fields": fields_of(record),
        }
        if traceback := exception_of(record, self):
            event["exception"] = traceback
        return json.dumps(event)


def room_of(logger: str) -> str:
    name, _, rest = logger.partition(".")
    return rest.partition(".")[0] if name == PACKAGE else ""


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The values of a line by their names, which its text gives: `block %(block)d`."""
    step = getattr(record, "progress", None)
    given = record.args if step is None else step.fields
    if not isinstance(given, Mapping):
        return {}
    return {str(name): _plain(value) for name, value in given.items()}


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return without_keys(str(value))
