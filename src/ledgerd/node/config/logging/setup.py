"""Python's logging as the sections of the configuration ask for it: handlers, levels, and the forms of lines.

The logger `default` of the file is `ledgerd` in Python, and the warnings of libraries go where its messages go. Any
other name is a logger of that name, such as `ledgerd.p2p`, which then sends to its own appenders alone.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from ledgerd.node.config.logging.hourly_file import HourlyFile
from ledgerd.node.config.logging.sections import Appender, Level, Logger, Logging

DEFAULT = "default"
PACKAGE = "ledgerd"
BUILT_IN = Logging((Appender("stderr", "console", "std_error"),), (Logger(DEFAULT, "info", ("stderr",)),))
"""The logging of a configuration without logging sections."""

LEVELS: dict[Level, int] = {
    "all": 1,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}
WORDS = {logging.WARNING: "warn", logging.CRITICAL: "error"}


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


class ConsoleLine(logging.Formatter):
    """Time, thread, place and method in columns, then the message (spec 06, section 6)."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = _time(record)
        place = f"{record.filename}:{record.lineno} "
        line = (
            f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03} {(record.threadName or '')[:9]:<10}"
            f"{place:<30}{record.funcName or '':<20.20} ] {record.getMessage()}"
        )
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class FileLine(ConsoleLine):
    """The same, and the place once more behind the message."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return f"{super().format(record)}\t\t\t{record.filename}:{record.lineno}"


class JsonLine(logging.Formatter):
    """One JSON object a line, for collectors of logs."""

    def __init__(self) -> None:
        super().__init__()
        self.host = socket.gethostname()

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        message = record.getMessage()
        if record.exc_info:
            message += f"\n{self.formatException(record.exc_info)}"
        return json.dumps(
            {
                "level": WORDS.get(record.levelno, record.levelname.lower()),
                "file": record.filename,
                "line": record.lineno,
                "method": record.funcName,
                "hostname": self.host,
                "thread_name": record.threadName,
                "timestamp": _time(record).isoformat(timespec="milliseconds").removesuffix("+00:00"),
                "context": record.name,
                "format": message,
                "data": {},
            }
        )


def handler_of(appender: Appender) -> logging.Handler:
    """What writes for an appender."""
    handler: logging.Handler
    if isinstance(appender.target, Path):
        handler = HourlyFile(appender.target)
        handler.setFormatter(FileLine())
        return handler
    handler = logging.StreamHandler(sys.stdout if appender.target == "std_out" else sys.stderr)
    handler.setFormatter(JsonLine() if appender.form == "json_console" else ConsoleLine())
    return handler


def set_up_logging(sections: Logging | None) -> None:
    """Configure Python's logging as the sections say, replacing its previous configuration."""
    sections = sections or BUILT_IN
    handlers = {appender.name: handler_of(appender) for appender in sections.appenders}
    _route(logging.getLogger(), [], logging.WARNING)
    _route(logging.getLogger(PACKAGE), [], logging.WARNING)
    for each in sections.loggers:
        chosen, level = [handlers[name] for name in each.appenders], LEVELS[each.level]
        logger = logging.getLogger(PACKAGE if each.name == DEFAULT else each.name)
        _route(logger, chosen, level)
        logger.propagate = False
        if each.name == DEFAULT:
            _route(logging.getLogger(), chosen, max(level, logging.WARNING))


def _route(logger: logging.Logger, handlers: list[logging.Handler], level: int) -> None:
    for old in list(logger.handlers):
        logger.removeHandler(old)
    for handler in handlers:
        logger.addHandler(handler)
    logger.setLevel(level)
