"""What is read of nodes for a hand-over: the slots to come, from recorded schedules; whether the other program runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ledgerd.adopt.handover_facts import (
    OtherNode,
    Presence,
    ScheduleAnswer,
    ScheduleTurns,
    may_be_inspected,
    quiet_slots,
    turns_of,
)
from ledgerd.compare.node import ComparedNode, Pace
from tests.compare.doubles import listening
from tests.ports import free_port
from tests.recorded import recorded_result


def schedule(text: str) -> ScheduleAnswer:
    return msgspec.json.decode(text, type=ScheduleAnswer, strict=False)


def test_a_recorded_schedule_is_read() -> None:
    names = json.loads(recorded_result("open-main/api-900", "get_active_validators"))
    turns = turns_of(schedule(recorded_result("open-main/api-900", "get_validator_schedule")))

    assert list(turns.names) == names
    assert turns.places == 21


@pytest.mark.parametrize(("names", "count"), [("00" * 32, 0), ("00" * 32, 2), ("00" * 31, 1), ("zz", 1), ("", 1)])
def test_a_schedule_that_contradicts_itself_is_refused(names: str, count: int) -> None:
    with pytest.raises(ValueError, match=r".*"):
        turns_of(ScheduleAnswer(names, count))


@pytest.mark.parametrize(
    ("head", "aslot", "name", "quiet"),
    [
        (7, 7, "b", 0),
        (7, 7, "a", 6),
        (7, 7, "g", 5),
        (8, 8, "b", 6),
        (13, 13, "a", 0),
        (13, 14, "a", 1),
        (10, 10, "nobody", 4),
    ],
)
def test_slots_are_known_up_to_the_end_of_the_round(head: int, aslot: int, name: str, quiet: int) -> None:
    assert quiet_slots(ScheduleTurns(tuple("abcdefg"), 7), aslot, head, name) == quiet


def presence(node: str | None, folder: Path | None) -> Presence:
    pace = Pace(1e9)
    with ComparedNode("http://127.0.0.1:1", pace) as ours:
        if node is None:
            return OtherNode(None, folder).facts(ours).presence
        with ComparedNode(node, pace) as other:
            return OtherNode(other, folder).facts(ours).presence


def test_a_vizd_is_up_if_any_sign_says_so_and_gone_only_if_one_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "block_log"
    file.touch()
    gone = f"http://127.0.0.1:{free_port()}"
    assert presence(None, None) is Presence.UNKNOWN
    assert presence(gone, None) is Presence.GONE
    assert presence(None, tmp_path) is Presence.GONE
    with listening(lambda _: (200, b"nonsense")) as url:
        assert presence(url, tmp_path) is Presence.UP

    words = [sys.executable, "-c", "import sys; f = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"]
    with subprocess.Popen([*words, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603 - this Python
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        assert presence(gone, tmp_path) is Presence.UP
        other.communicate(b"")


def test_processes_of_others_are_hidden_so_their_files_show_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)

    assert not may_be_inspected(tmp_path)
    assert presence(None, tmp_path) is Presence.UNKNOWN
