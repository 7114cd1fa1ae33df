"""Child processes: real ones, each for a bounded time."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ledgerd.supervision import processes
from ledgerd.supervision.processes import NOTHING, PIPE, RETURNS_MEMORY, Child, module_command, parent_ended
from tests.patience import PATIENCE
from tests.supervision.limits import no_descriptor_left, open_descriptors

SLEEPS = "import time; time.sleep(600)"
HEEDS_NOTHING = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"


def started(program: str, stdin: int = NOTHING) -> Child:
    return Child.start((sys.executable, "-c", program), stdin=stdin)


def play(scene: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await scene()

    asyncio.run(bounded())


def test_a_child_hears_that_its_parent_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = [7, 7, 1]
    monkeypatch.setattr(processes, "POLL_SECONDS", 0)
    monkeypatch.setattr("os.getppid", lambda: parents.pop(0))
    play(lambda: parent_ended(7))
    assert parents == []


def test_the_end_is_waited_for_by_as_many_as_want_to() -> None:
    async def scene() -> None:
        child = started("raise SystemExit(7)")
        assert set(await asyncio.gather(child.ended(), child.ended(), child.stop(PATIENCE))) == {7}
        assert (child.code, child.is_running) == (7, False)

    play(scene)


def test_whoever_stops_waiting_leaves_the_others_waiting() -> None:
    async def scene() -> None:
        child = started(SLEEPS)
        first, second = asyncio.ensure_future(child.ended()), asyncio.ensure_future(child.ended())
        await asyncio.sleep(0)
        first.cancel()
        child.kill()
        assert await second == -9

    play(scene)


def test_a_stop_kills_what_does_not_end() -> None:
    async def scene() -> None:
        child = started(SLEEPS)
        assert await child.stop(0.01) == -9
        child.kill()  # once more is no fault
        child.terminate()

    play(scene)


def test_a_cancelled_stop_kills_the_process_at_once() -> None:
    async def scene() -> None:
        child = started(SLEEPS)
        stopping = asyncio.ensure_future(child.stop(PATIENCE))
        await asyncio.sleep(0)
        stopping.cancel()
        assert await child.ended() == -9

    play(scene)


def test_a_child_inherits_what_it_is_given_and_nothing_else() -> None:
    ours, theirs = socket.socketpair()
    other, unwanted = socket.socketpair()
    for each in (theirs, unwanted):
        each.set_inheritable(True)
    program = (
        "import os, socket, sys\n"
        "def is_open(number):\n"
        "    try: return bool(os.fstat(number))\n"
        "    except OSError: return False\n"
        "first, second = map(int, sys.stdin.read().split())\n"
        "socket.socket(fileno=first).sendall(repr([is_open(first), is_open(second)]).encode())\n"
    )
    with ours, other, unwanted:
        with theirs:
            child = Child.start((sys.executable, "-c", program), stdin=PIPE, inherited=(theirs.fileno(),))
            child.write(f"{theirs.fileno()} {unwanted.fileno()}".encode())
        ours.settimeout(PATIENCE)
        assert ours.recv(100) == b"[True, False]"
        assert child.wait(PATIENCE) == 0


def test_a_child_that_has_ended_hears_nothing_and_that_is_no_fault() -> None:
    child = started("", stdin=PIPE)
    assert child.wait(PATIENCE) == 0
    child.write(b"hello")
    child.release()


def test_waiting_on_the_thread_has_a_limit() -> None:
    child = Child.start((sys.executable, "-c", HEEDS_NOTHING), stdin=NOTHING, stdout=NOTHING)
    assert child.wait(0.01) is None
    child.terminate()
    assert child.wait_or_kill(0.01) in {-9, -15}


def test_a_child_that_cannot_be_started_leaves_nothing_behind() -> None:
    before = open_descriptors()
    with no_descriptor_left(), pytest.raises(OSError, match="Too many open files"):
        started(SLEEPS, stdin=PIPE)
    assert open_descriptors() == before


def test_a_module_is_run_by_the_interpreter_that_runs_us(tmp_path: Path) -> None:
    (tmp_path / "said.py").write_text("raise SystemExit(3)")
    child = Child.start(("env", "-C", str(tmp_path), *module_command("said")))
    assert child.wait(PATIENCE) == 3


def test_what_the_environment_has_wins_over_what_a_child_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    program = (
        "import os; arenas, limit = (os.environ.get(f'MALLOC_{name}') for name in ('ARENA_MAX', 'MMAP_THRESHOLD_'))"
    )

    async def scene() -> None:
        tells = f"{program}; raise SystemExit(3 if (arenas, limit) == ('7', '524288') else 4)"
        child = Child.start((sys.executable, "-c", tells), stdin=NOTHING, environment=RETURNS_MEMORY)
        assert await child.ended() == 3

    play(scene)
