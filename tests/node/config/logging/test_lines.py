"""The forms of a line of the log."""

from __future__ import annotations

import json
import logging

import pytest

from ledgerd.node.config.logging.lines import ConsoleLine, EventLine, FileLine, JsonLine, PersonLine, room_of
from ledgerd.protocol.secrets import HIDDEN
from ledgerd.supervision.progress import ProgressLine, shown
from tests.logs import KEY, failed, made

FORMS = (ConsoleLine(), FileLine(), PersonLine(), JsonLine(), EventLine())


def test_a_line_of_the_console_has_the_columns_of_the_reference() -> None:
    expected = "13:00:00.250 MainThrea peers.py:42                   on_block             ] Got block #7"

    assert ConsoleLine().format(made()) == expected
    assert FileLine().format(made()) == f"{expected}\t\t\tpeers.py:42"


def test_a_line_of_json_has_the_keys_of_the_reference() -> None:
    line = json.loads(JsonLine().format(made()))

    assert list(line) == [
        "level", "file", "line", "method", "hostname", "thread_name", "timestamp", "context", "format", "data",
    ]  # fmt: skip
    assert (line["level"], line["timestamp"]) == ("warn", "2026-11-20T13:00:00.250")
    assert line["format"] == "Got block #7"


def test_a_traceback_is_part_of_the_message() -> None:
    assert "ValueError: invalid literal" in ConsoleLine().format(failed())
    assert "ValueError: invalid literal" in json.loads(JsonLine().format(failed()))["format"]


def test_an_event_is_an_object_with_its_values_as_fields() -> None:
    line = json.loads(EventLine().format(made("Got block #%(block)d of %(peer)s", {"block": 7, "peer": (1, 2)})))

    assert line == {
        "time": "2026-11-20T13:00:00.250Z",
        "level": "warn",
        "room": "p2p",
        "logger": "ledgerd.p2p",
        "message": "Got block #7 of (1, 2)",
        "fields": {"block": 7, "peer": "(1, 2)"},
    }


def test_an_exception_is_one_text_of_an_event() -> None:
    line = json.loads(EventLine().format(failed()))

    assert line["exception"].startswith("Traceback ")
    assert "ValueError: invalid literal" in line["exception"]
    assert "Traceback" not in line["message"]


def test_progress_has_its_numbers_as_fields() -> None:
    step = ProgressLine("syncing", 0, 0.0).at(50, 100, 5.0)
    assert step is not None
    record = made("%s", step.text)
    vars(record).update(shown(step))

    assert json.loads(EventLine().format(record))["fields"] == {
        "block": 50, "of": 100, "a_second": 10.0, "seconds_left": 5,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda each: type(each).__name__)
def test_a_stranger_s_text_is_one_line_and_controls_no_terminal(form: logging.Formatter) -> None:
    line = form.format(made("%(peer)s", {"peer": "a\n12:00:00 forged\r\x1b[2J\x9b2J\u2028\u202eb\udcff"}))

    assert len(line.splitlines()) == 1
    assert line.replace("\t", "").isprintable(), "the reference has columns in files, with tabs between"


@pytest.mark.parametrize("form", FORMS, ids=lambda each: type(each).__name__)
def test_a_traceback_controls_no_terminal(form: logging.Formatter) -> None:
    record = failed()
    record.exc_info = (ValueError, ValueError("a\x1b[2J\x9b2J\u202eb\udcff"), None)
    assert form.format(record).translate({ord("\t"): None, ord("\n"): None}).isprintable()


@pytest.mark.parametrize("form", FORMS, ids=lambda each: type(each).__name__)
def test_a_key_is_in_no_form_of_a_line(form: logging.Formatter) -> None:
    for record in (made("key %(key)s", {"key": KEY}), made("%s", KEY), failed(KEY)):
        line = form.format(record)
        assert KEY not in line
        assert HIDDEN in line


def test_the_room_is_the_part_of_the_program() -> None:
    assert [room_of(name) for name in ("ledgerd.p2p.driver", "ledgerd", "websockets.server")] == ["p2p", "", ""]
