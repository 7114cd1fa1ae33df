"""The logging sections of a configuration file (spec 06, section 6): which appenders and loggers they declare."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, cast

import msgspec

from ledgerd.node.config.ini import IniEntry
from ledgerd.node.config.options.invocation import LOGGING_KEYS
from ledgerd.node.config.values.values import nearest

Form = Literal["console", "json_console", "file"]
Level = Literal["all", "debug", "info", "warn", "error", "off"]

LogStream = Literal["std_out", "std_error"]

STREAMS: tuple[LogStream, ...] = ("std_out", "std_error")
LEVELS: tuple[Level, ...] = ("all", "debug", "info", "warn", "error", "off")

_BETWEEN_NAMES = re.compile(r"[ ,]+")
_APPENDER = re.compile(r"log\.(console|json_console|file)_appender\.(.+)")
_LOGGER = re.compile(r"logger\.(.+)")
_KINDS = "[log.console_appender.NAME], [log.json_console_appender.NAME], [log.file_appender.NAME] and [logger.NAME]"


class Appender(msgspec.Struct, frozen=True):
    """A place for messages: an absolute path for a file appender, a stream for the others."""

    name: str
    form: Form
    target: Path | LogStream


class Logger(msgspec.Struct, frozen=True):
    """Which messages of one name go to which appenders."""

    name: str
    level: Level
    appenders: tuple[str, ...]


class Logging(msgspec.Struct, frozen=True):
    """All logging sections of a file."""

    appenders: tuple[Appender, ...]
    loggers: tuple[Logger, ...]


class _Section:
    """The keys of one section, of which each is taken once."""

    def __init__(self, name: str, file: Path, problems: list[str]) -> None:
        self.name, self.file, self.problems = name, file, problems
        self.entries: dict[str, IniEntry] = {}

    def add(self, entry: IniEntry) -> None:
        """The last of several wins, save where the reference knows the key by name."""
        if entry.key in self.entries and entry.full_key in LOGGING_KEYS:
            self.fault(entry, f"option '{entry.full_key}' cannot be specified more than once: keep one of them")
        self.entries[entry.key] = entry

    def fault(self, entry: IniEntry, problem: str) -> None:
        self.problems.append(f"{self.file}:{entry.line}: {problem}")

    def pop(self, key: str, example: str) -> IniEntry | None:
        entry = self.entries.pop(key, None)
        if entry is None:
            self.problems.append(f"{self.file}: section [{self.name}] has no {key}: add `{key} = {example}`")
        return entry

    def choice(self, key: str, words: tuple[str, ...], example: str) -> str:
        entry = self.pop(key, example)
        if entry is not None and entry.value not in words:
            self.fault(entry, f"{key} = {entry.value}: must be one of {', '.join(words)}")
        return example if entry is None else entry.value

    def finish(self, known: tuple[str, ...]) -> None:
        for left in self.entries.values():
            self.fault(left, f"{left.key}: no key of [{self.name}]; the nearest one is {nearest(left.key, known)}")


def read_logging(entries: Iterable[IniEntry], file: Path, problems: list[str]) -> Logging | None:
    sections: dict[str, _Section] = {}
    for entry in entries:
        sections.setdefault(entry.section, _Section(entry.section, file, problems)).add(entry)
    appenders: list[Appender] = []
    routed: list[tuple[Logger, IniEntry | None]] = []
    for name, section in sections.items():
        if parts := _APPENDER.fullmatch(name):
            appenders.append(_appender(section, cast("Form", parts[1]), parts[2]))
        elif parts := _LOGGER.fullmatch(name):
            routed.append(_logger(section, parts[1]))
        else:
            section.fault(next(iter(section.entries.values())), f"there is no section [{name}]; there are {_KINDS}")
    for logger, line in routed:
        _check_appenders(logger, line, [appender.name for appender in appenders], file, problems)
    return Logging(tuple(appenders), tuple(logger for logger, _ in routed)) if sections else None


def _appender(section: _Section, form: Form, name: str) -> Appender:
    if form == "file":
        entry = section.pop("filename", "logs/ledgerd.log")
        section.finish(("filename",))
        path = Path(entry.value if entry else "")
        if entry is not None and (not entry.value or "\0" in entry.value):
            wrong = "holds a NUL character" if entry.value else "is empty"
            section.fault(entry, f"filename {wrong}: write `filename = logs/ledgerd.log`")
        return Appender(name, form, section.file.parent / path)
    stream = section.choice("stream", STREAMS, "std_error")
    section.finish(("stream",))
    return Appender(name, form, cast("LogStream", stream))


def _logger(section: _Section, name: str) -> tuple[Logger, IniEntry | None]:
    level = section.choice("level", LEVELS, "info")
    entry = section.pop("appenders", "stderr")
    section.finish(("level", "appenders"))
    names = _BETWEEN_NAMES.split(entry.value) if entry else []
    return Logger(name, cast("Level", level), tuple(filter(None, names))), entry


def _check_appenders(logger: Logger, entry: IniEntry | None, known: list[str], file: Path, problems: list[str]) -> None:
    for name in logger.appenders:
        if name not in known and entry is not None:
            there_are = f"there are {', '.join(known)}" if known else "there are none"
            problems.append(
                f"{file}:{entry.line}: appenders = {entry.value}: no section declares {name}; {there_are}: add "
                f"[log.console_appender.{name}] with stream = std_error"
            )
