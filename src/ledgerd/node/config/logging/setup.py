"""Python's logging as the sections of the configuration and `log-format` ask for it: handlers and levels.

The logger `default` of the file is `ledgerd` in Python, and the warnings of libraries go where its messages go. Any
other name is a logger of that name, such as `ledgerd.p2p`, which then sends to its own appenders alone.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from ledgerd.node.config.logging.handlers import Console, HourlyFile, Limited
from ledgerd.node.config.logging.lines import PACKAGE, ConsoleLine, EventLine, FileLine, JsonLine, PersonLine
from ledgerd.node.config.logging.sections import Appender, Level, Logger, Logging
from ledgerd.node.config.options.application import LogFormat

log = logging.getLogger(__name__)

DEFAULT = "default"
BUILT_IN = Logging((Appender("stderr", "console", "std_error"),), (Logger(DEFAULT, "info", ("stderr",)),))

LEVELS: dict[Level, int] = {
    "all": 1,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


def handler_of(appender: Appender, form: LogFormat = "text", *, is_for_person: bool = False) -> logging.Handler:
    """The handler of an appender. One whose section asks for JSON has the reference's keys in either format."""
    if isinstance(appender.target, Path):
        handler = HourlyFile(appender.target)
        handler.setFormatter(EventLine() if form == "json" else FileLine())
        return handler
    stream = sys.stdout if appender.target == "std_out" else sys.stderr
    if appender.form == "json_console":
        return Console(stream, JsonLine())
    if form == "json":
        return Console(stream, EventLine())
    return Console(stream, PersonLine() if is_for_person else ConsoleLine())


def set_up_logging(sections: Logging | None, form: LogFormat = "text", *, is_for_person: bool = False) -> None:
    """Replace what is configured; `is_for_person`, text on the console is short instead of in columns."""
    sections = sections or BUILT_IN
    handlers = {each.name: handler_of(each, form, is_for_person=is_for_person) for each in sections.appenders}
    _route(logging.getLogger(), None, logging.WARNING)
    _route(logging.getLogger(PACKAGE), None, logging.WARNING)
    for each in sections.loggers:
        chosen, level = Limited([handlers[name] for name in each.appenders]), LEVELS[each.level]
        logger = logging.getLogger(PACKAGE if each.name == DEFAULT else each.name)
        _route(logger, chosen, level)
        logger.propagate = False
        if each.name == DEFAULT:
            _route(logging.getLogger(), chosen, max(level, logging.WARNING))


def set_up_child_logging(form: LogFormat) -> None:
    """Set up logging for a child process of the node: its lines, and the error that ends it, go to standard error."""
    set_up_logging(None, form)
    sys.excepthook = _log_end


def _log_end(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    log.critical("process %(process)d stops: internal error", {"process": os.getpid()}, exc_info=(kind, problem, trace))


@contextmanager
def set_up_for_person(shown: logging.Logger) -> Iterator[None]:
    package, console = logging.getLogger(PACKAGE), Console(sys.stderr, PersonLine())
    levels = package.level, shown.level
    package.addHandler(console)
    package.setLevel(logging.WARNING)
    shown.setLevel(logging.INFO)
    try:
        yield
    finally:
        package.removeHandler(console)
        package.setLevel(levels[0])
        shown.setLevel(levels[1])
        console.close()


def _route(logger: logging.Logger, handler: logging.Handler | None, level: int) -> None:
    for old in list(logger.handlers):
        logger.removeHandler(old)
        if isinstance(old, Limited):
            old.close()
    if handler is not None:
        logger.addHandler(handler)
    logger.setLevel(level)
