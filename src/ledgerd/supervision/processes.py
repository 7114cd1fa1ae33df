"""Child processes: starting them with inherited sockets, waiting for them, ending them.

Every process of this program is started here. A thread waits for each child, not the event loop: this works with any
loop and on any thread, and needs no file descriptor, of which there may be none left.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import IO

from ledgerd.supervision.threads import begin_thread

NOTHING = subprocess.DEVNULL
PIPE = subprocess.PIPE

RETURNS_MEMORY = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "524288", "MALLOC_TRIM_THRESHOLD_": "4194304"}
"""For glibc, in a process that serves strangers: blocks of 512 KB and more go back to the system. By default the first
large one moves that limit to 32 MB, and the memory of later ones stays; smaller ones would take too long to get.
"""

ChildStream = int | IO[bytes] | None
"""A descriptor, an open file, `PIPE` or `NOTHING`; None for the parent's stream."""


def module_command(module: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module)


def processors_beside(most: int) -> int:
    """The number of processes that can work beside this one without taking its own processor, at most `most`."""
    if sys.platform == "win32":  # a process there does not take a socket for its standard input
        return 0
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(most, count - 1)


POLL_SECONDS = 1.0
"""The pause between two checks of a child whether its parent still runs."""


async def parent_ended(parent: int) -> None:
    """Wait, in a child, until another process is the parent: its own is gone."""
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells it
        await asyncio.sleep(POLL_SECONDS)


_left: list[subprocess.Popen[bytes]] = []


class Child:
    """One child process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ended: asyncio.Future[int] | None = None

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        stdin: ChildStream = None,
        stdout: ChildStream = None,
        stderr: ChildStream = None,
        inherited: Sequence[int] = (),
        has_own_session: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start a child that inherits only these descriptors. Variables of our environment are kept. In a session of
        its own it gets no Ctrl-C.
        """
        process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(inherited),
            start_new_session=has_own_session,
            env={**(environment or {}), **os.environ},
        )
        return cls(process)

    @classmethod
    def on_socket(cls, command: Sequence[str], *, answers: bool = False) -> tuple[Child, socket.socket]:
        """Start a process whose input, and output where it answers, is a socket; and our end of that.

        Raises `OSError` if descriptors or memory run out.
        """
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as failing:
            failing.callback(ours.close)
            child = cls.start(command, stdin=theirs.fileno(), stdout=theirs.fileno() if answers else NOTHING)
            failing.pop_all()
        ours.setblocking(False)
        return child, ours

    def detach(self) -> None:
        """Let it run on when this process ends. If it ends before, it is reaped at the next call."""
        _left[:] = [each for each in _left if each.poll() is None]
        _left.append(self._process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def is_running(self) -> bool:
        return self.code is None

    def write(self, data: bytes) -> None:
        """Write to the standard input of the child, a pipe, and close it; ignored if the child has ended."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(data)
            self.release()

    def release(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def terminate(self) -> None:
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    def wait(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def wait_or_kill(self, seconds: float) -> int:
        code = self.wait(seconds)
        if code is None:
            self.kill()
            code = self._process.wait()
        return code

    async def ended(self) -> int:
        if self._ended is None:
            loop = asyncio.get_running_loop()
            ended: asyncio.Future[int] = loop.create_future()

            def resolve(code: int) -> None:
                if not ended.done():
                    ended.set_result(code)

            def wait() -> None:
                code = self._process.wait()
                with suppress(RuntimeError):  # the loop is closed, so there is nobody to tell
                    loop.call_soon_threadsafe(resolve, code)

            begin_thread(f"child {self.pid}", wait, lambda _: None)
            self._ended = ended
        return await asyncio.shield(self._ended)

    async def stop(self, seconds: float = 0.0) -> int:
        """Await its end; kill it after the timeout."""
        try:
            async with asyncio.timeout(seconds):
                return await self.ended()
        except TimeoutError:
            pass
        finally:
            self.kill()
        return await self.ended()
