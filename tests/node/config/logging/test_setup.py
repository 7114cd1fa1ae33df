from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.config.logging.hourly_file import HourlyFile
from ledgerd.node.config.logging.sections import Appender, Logger, Logging
from ledgerd.node.config.logging.setup import ConsoleLine, FileLine, JsonLine, set_up_logging

NAMES = ("", "ledgerd", "ledgerd.p2p", "sync")


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """Python's logging is one for the whole process."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.level, list(logger.handlers), logger.propagate) for logger in loggers]
    yield
    for logger, (level, handlers, propagate) in zip(loggers, before, strict=True):
        logger.setLevel(level)
        logger.handlers[:] = handlers
        logger.propagate = propagate


def record(text: str = "Got block #%d") -> logging.LogRecord:
    made = logging.LogRecord("ledgerd.p2p", logging.WARNING, "/src/peers.py", 42, text, (7,), None, "on_block")
    made.created = 1_795_179_600.25
    made.threadName = "MainThread"
    return made


def test_a_line_of_the_console_has_the_columns_of_the_reference() -> None:
    expected = "13:00:00.250 MainThrea peers.py:42                   on_block             ] Got block #7"

    assert ConsoleLine().format(record()) == expected
    assert FileLine().format(record()) == f"{expected}\t\t\tpeers.py:42"


def test_a_line_of_json_has_the_keys_of_the_reference() -> None:
    line = json.loads(JsonLine().format(record()))

    assert list(line) == [
        "level", "file", "line", "method", "hostname", "thread_name", "timestamp", "context", "format", "data",
    ]  # fmt: skip
    assert (line["level"], line["timestamp"]) == ("warn", "2026-11-20T13:00:00.250")
    assert line["format"] == "Got block #7"


def test_a_traceback_is_part_of_the_message() -> None:
    made = record()
    try:
        int("no number")
    except ValueError as error:
        made.exc_info = (type(error), error, error.__traceback__)

    assert "ValueError: invalid literal" in ConsoleLine().format(made)
    assert "ValueError: invalid literal" in json.loads(JsonLine().format(made))["format"]


def test_the_default_logger_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    appenders = (Appender("out", "console", "std_out"),)
    set_up_logging(Logging(appenders, (Logger("default", "info", ("out",)),)))

    logging.getLogger("ledgerd.chain").info("a block")
    logging.getLogger("ledgerd.chain").debug("a detail")
    logging.getLogger("sync").info("of a library")
    logging.getLogger("sync").warning("a warning of a library")

    assert [line.partition("] ")[2] for line in capsys.readouterr().out.splitlines()] == [
        "a block",
        "a warning of a library",
    ]


def test_a_named_logger_speaks_to_its_own_appenders_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p2p.log"
    appenders = (Appender("out", "json_console", "std_out"), Appender("p2p", "file", file))
    loggers = (Logger("default", "all", ("out",)), Logger("ledgerd.p2p", "error", ("p2p",)))
    set_up_logging(Logging(appenders, loggers))

    logging.getLogger("ledgerd.p2p").warning("quiet")
    logging.getLogger("ledgerd.p2p").error("loud")

    assert capsys.readouterr().out == ""
    assert "] loud\t\t\t" in file.read_text(encoding="utf-8")
    for handler in logging.getLogger("ledgerd.p2p").handlers:
        assert isinstance(handler, HourlyFile)
        handler.close()


def test_without_sections_messages_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(None)

    logging.getLogger("ledgerd").info("here")

    assert capsys.readouterr().err.endswith("] here\n")


def test_a_logger_may_be_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(Logging((Appender("err", "console", "std_error"),), (Logger("default", "off", ("err",)),)))

    logging.getLogger("ledgerd").critical("nothing")

    assert capsys.readouterr().err == ""
