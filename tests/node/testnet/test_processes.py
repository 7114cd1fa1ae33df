"""A node of a local network as a process, with programs in place of the node."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from ledgerd.node.testnet import processes as module
from ledgerd.node.testnet.plan import Member, new_keys, plan_of
from ledgerd.node.testnet.processes import MemberProcess
from ledgerd.supervision.work import MOST_FAILURES, PartFailed
from tests.patience import PATIENCE
from tests.supervision.clocks import Clock
from tests.supervision.limits import no_descriptor_left

WAITS_FOR_ITS_INPUT = "import sys; print('begun', flush=True); sys.stdin.read(); print('ended')"
HEEDS_NOTHING = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
)


@pytest.fixture
def member(tmp_path: Path) -> Member:
    member = plan_of(tmp_path, new_keys(1, 1)).members[0]
    member.folder.mkdir()
    return member


def process(member: Member, program: str, clock: Clock | None = None) -> MemberProcess:
    return MemberProcess(member, (sys.executable, "-c", program), clock or Clock())


def test_a_node_that_dies_is_started_again_after_pauses_that_grow(
    member: Member, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    node = process(member, WAITS_FOR_ITS_INPUT, clock)
    node.start()
    for pause in (1, 2, 4):
        node.works()
        node.kill()
        assert not node.restart()
        clock.now += pause - 0.1
        assert not node.restart()
        clock.now += 0.1
        assert node.restart()
    assert node.restarts == 3
    node.ask_to_stop()
    node.wait()
    assert not node.restart()
    assert [record.getMessage() for record in caplog.records] == [
        f"testnet: node-1 ended (exit code -9), next start in {pause} s" for pause in (1, 2, 4)
    ]


def test_a_node_that_cannot_be_started_again_is_tried_until_there_is_room(member: Member) -> None:
    clock = Clock()
    node = process(member, WAITS_FOR_ITS_INPUT, clock)
    node.start()
    node.works()
    node.kill()
    assert not node.restart()
    with no_descriptor_left():
        clock.now += 1
        assert not node.restart()
        assert node.has_died
    clock.now += 2
    assert node.restart()
    node.ask_to_stop()
    node.wait()


def test_a_node_that_never_works_is_given_up_after_ten_starts(member: Member) -> None:
    clock = Clock()
    node = process(member, "raise SystemExit(3)", clock)
    node.start()

    def keep() -> None:
        while clock.now <= 600:
            node.wait()
            node.restart()
            clock.now += 1

    with pytest.raises(PartFailed, match=r"testnet: node-1 failed to start 10 times in 10 minutes: exit code 3"):
        keep()
    assert node.starts == MOST_FAILURES


def test_a_killed_node_has_died_and_a_stopped_one_has_not(member: Member) -> None:
    node = process(member, WAITS_FOR_ITS_INPUT)
    node.start()
    node.kill()
    assert (node.has_died, node.exit_code, node.pid) == (True, -9, 0)

    node.start()
    node.ask_to_stop()
    node.wait()
    assert not node.has_died
    assert node.restarts == 1


def test_a_stop_that_takes_too_long_is_cut_short(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.2)
    node = process(member, HEEDS_NOTHING)
    node.start()
    deadline = time.monotonic() + PATIENCE
    while node.last_words() != "deaf":
        assert time.monotonic() < deadline
        time.sleep(0.05)

    node.ask_to_stop()

    assert node.wait() == -9


def test_a_large_log_is_turned_over_at_a_start(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_LOG", 10)
    member.log.write_text("what was said before\n")
    node = process(member, "print('new')")
    node.start()
    node.wait()

    assert node.last_words() == "new"
    assert member.log.with_suffix(".log.before").read_text() == "what was said before\n"
