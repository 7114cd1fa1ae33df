"""The node processes of a local network. The standard input of each is a pipe from this process: at EOF the node
stops, so none outlives this process, even if that is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ledgerd.node.testnet.plan import Member
from ledgerd.supervision.processes import PIPE, Child
from ledgerd.supervision.work import Ended, Work

STOP_SECONDS = 20.0
LAST_LINES = 5
LAST_BYTES = 4096
"""Bytes at the end of a log from which its last lines are read when a node has failed."""
LARGEST_LOG = 64 << 20
"""Bytes of the log of a node; a larger one is set aside at the next start."""


class MemberProcess:
    """The process of one node; it can be started again after its end."""

    def __init__(self, member: Member, program: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self.member = member
        self._restarts = Work("testnet", clock=clock).restart_schedule(member.name)
        self._is_lost = False
        """Whether its end was reported to the restart schedule."""
        self._command = (*program, "--config-file", str(member.config), "--data-dir", str(member.folder))
        self._process: Child | None = None
        self.starts = 0
        self.is_wanted = False
        """Whether it should be running: if it has ended nevertheless, it has died."""

    @property
    def restarts(self) -> int:
        return max(0, self.starts - 1)

    @property
    def pid(self) -> int:
        return self._process.pid if self.is_running and self._process is not None else 0

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running

    @property
    def has_died(self) -> bool:
        return self.is_wanted and not self.is_running

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.code

    def start(self) -> None:
        self._release()
        self.is_wanted = True
        self._turn_log_over()
        with self.member.log.open("ab") as log:
            self._process = Child.start(
                [*self._command, "--stop-with-stdin"],
                stdin=PIPE,
                stdout=log,
                stderr=log,
                has_own_session=True,  # Ctrl-C goes to `ledgerd testnet`, which stops its nodes
            )
        self.starts += 1
        self._is_lost = False

    def works(self) -> None:
        self._restarts.working()

    def restart(self) -> bool:
        """Whether it was started: it has died, and the pause is over. Raises `PartFailed` after too many failures."""
        if not self.has_died:
            return False
        if not self._is_lost:
            self._is_lost = True
            self._restarts.ended(Ended(f"exit code {self.exit_code}"))
        if not self._restarts.may_start:
            return False
        try:
            self.start()
        except OSError as problem:
            self._restarts.ended(problem)
            return False
        return True

    def ask_to_stop(self) -> None:
        self.is_wanted = False
        if self._process is not None and self.is_running:
            self._process.terminate()

    def wait(self) -> int | None:
        if self._process is None:
            return None
        code = self._process.wait_or_kill(STOP_SECONDS)
        self._release()
        return code

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait_or_kill(STOP_SECONDS)

    def last_words(self) -> str:
        with suppress(OSError), self.member.log.open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - LAST_BYTES))
            return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-LAST_LINES:])
        return ""

    def _turn_log_over(self) -> None:
        with suppress(FileNotFoundError):
            if self.member.log.stat().st_size > LARGEST_LOG:
                self.member.log.replace(self.member.log.with_suffix(".log.before"))

    def _release(self) -> None:
        if self._process is not None:
            self._process.release()
