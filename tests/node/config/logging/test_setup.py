from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.config.logging.handlers import HourlyFile, Limited
from ledgerd.node.config.logging.sections import Appender, Logger, Logging
from ledgerd.node.config.logging.setup import set_up_for_person, set_up_logging

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
        assert isinstance(handler, Limited)
        assert [type(each) for each in handler.targets] == [HourlyFile]
        handler.close()


def test_without_sections_messages_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(None)

    logging.getLogger("ledgerd").info("here")

    assert capsys.readouterr().err.endswith("] here\n")


def test_a_logger_may_be_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(Logging((Appender("err", "console", "std_error"),), (Logger("default", "off", ("err",)),)))

    logging.getLogger("ledgerd").critical("nothing")

    assert capsys.readouterr().err == ""


def test_json_is_the_form_of_consoles_and_files_but_not_of_the_reference_s_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "all.log"
    appenders = (
        Appender("out", "console", "std_out"),
        Appender("err", "json_console", "std_error"),
        Appender("file", "file", file),
    )
    set_up_logging(Logging(appenders, (Logger("default", "info", ("out", "err", "file")),)), "json")

    logging.getLogger("ledgerd.chain").info("block %(block)d", {"block": 7})

    printed = capsys.readouterr()
    for text in (printed.out, file.read_text(encoding="utf-8")):
        event = json.loads(text)
        assert (event["message"], event["fields"], event["room"]) == ("block 7", {"block": 7}, "chain")
    assert json.loads(printed.err)["format"] == "block 7"
    for handler in logging.getLogger("ledgerd").handlers:
        handler.close()


def test_lines_for_a_person_are_short(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(None, is_for_person=True)

    logging.getLogger("ledgerd.chain").info("block 7")
    logging.getLogger("ledgerd.chain").warning("block 8")

    lines = [line.partition("  ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["block 7", "warn: block 8"]


def test_a_command_shows_warnings_and_its_own_progress(capsys: pytest.CaptureFixture[str]) -> None:
    shown = logging.getLogger("ledgerd.cli.shared.terminal")
    before = shown.level, logging.getLogger("ledgerd").level
    with set_up_for_person(shown):
        shown.info("replaying")
        logging.getLogger("ledgerd.chain").info("not this")
        logging.getLogger("ledgerd.chain").warning("a branch")

    assert [line.partition("  ")[2] for line in capsys.readouterr().err.splitlines()] == ["replaying", "warn: a branch"]
    assert (shown.level, logging.getLogger("ledgerd").level) == before
