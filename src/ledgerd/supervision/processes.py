"""Child processes: started with the sockets that they inherit, waited for, ended.

Every process of this program is made here. A child is waited for on a thread of its own and not by the loop: so it
works on any loop and thread, and needs no file descriptor when there are none left.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from ledgerd.supervision.threads import begin_thread

NOTHING = subprocess.DEVNULL
PIPE = subprocess.PIPE

Stream = int | IO[bytes] | None
"""A descriptor, an open file, `PIPE` or `NOTHING`; the parent's own where it is none."""


def module_command(module: str) -> tuple[str, ...]:
    """The command that runs a module of this program."""
    return (sys.executable, "-m", module)


class Child:
    """One process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ended: asyncio.Future[int] | None = None

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        inherited: Sequence[int] = (),
        has_own_session: bool = False,
    ) -> Child:
        """Start a process that inherits these descriptors and no others.

        With a session of its own it does not get the interrupts of the keyboard. `OSError` when there is no room.
        """
        process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(inherited),
            start_new_session=has_own_session,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """What it has ended with; nothing while it runs."""
        return self._process.poll()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.code is None

    def tell(self, data: bytes) -> None:
        """Write to its input, which is a pipe, and close that; a child that has ended hears nothing."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(data)
            self.release()

    def release(self) -> None:
        """Close the pipe to its input."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def terminate(self) -> None:
        """Ask it to end."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """End it."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def wait(self, seconds: float) -> int | None:
        """Wait for its end on this thread, and give the code; nothing where it takes longer."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def wait_or_kill(self, seconds: float) -> int:
        """Wait for its end on this thread; one that takes longer is killed."""
        code = self.wait(seconds)
        if code is None:
            self.kill()
            code = self._process.wait()
        return code

    async def ended(self) -> int:
        """Wait for its end without holding up the loop, which is the same one each time."""
        if self._ended is None:
            loop = asyncio.get_running_loop()
            ended: asyncio.Future[int] = loop.create_future()

            def tell(code: int) -> None:
                if not ended.done():
                    ended.set_result(code)

            def wait() -> None:
                code = self._process.wait()
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(tell, code)

            begin_thread(f"child {self.pid}", wait, lambda _: None)
            self._ended = ended
        return await asyncio.shield(self._ended)

    async def stop(self, seconds: float = 0.0) -> int:
        """Wait for its end for so long, then kill it."""
        try:
            async with asyncio.timeout(seconds):
                return await self.ended()
        except TimeoutError:
            pass
        finally:
            self.kill()
        return await self.ended()
