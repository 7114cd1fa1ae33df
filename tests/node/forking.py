"""Nodes as copies of one process that has loaded all of a node, and does nothing else.

To load its modules takes a node longer than all else that it does at its start. A copy is a process of its own, with
its arguments, folder, environment and streams; it runs the same `main`, and ends by itself or by signals. Tests of the
start itself name the program, and have it loaded anew.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TextIO

from tests.patience import PATIENCE

LOADED = (
    *("ledgerd.cli.main", "ledgerd.cli.process.node", "ledgerd.node.lifecycle"),
    *("ledgerd.cli.process.dev", "ledgerd.node.dev.development", "uvloop"),
)
MOST_ASKED = 1 << 17
"""Bytes of the words and the environment of a node."""
NUMBER = struct.Struct("<i")


class Copies:
    """The process that is copied, as a run of tests sees it."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = (sys.executable, "-m", __name__, str(theirs.fileno()))
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )

    def begin(self, words: Sequence[str], folder: Path | None, streams: Sequence[int]) -> None:
        """Start a copy with these arguments. The streams are its input, its errors, and where its number is told and
        its exit code.
        """
        asked = json.dumps([list(words), str(folder or Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(self._control, [asked], list(streams))

    def close(self) -> None:
        self._control.close()
        self._process.wait(PATIENCE)


@cache
def _copies(_variables: tuple[tuple[str, str], ...]) -> Copies:
    """One for the whole run, and one for each way to set what Python reads at its start, such as where modules are."""
    copies = Copies()
    atexit.register(copies.close)
    return copies


def _python_variables() -> tuple[tuple[str, str], ...]:
    return tuple(sorted(each for each in os.environ.items() if each[0].startswith("PYTHON")))


class CopiedProcess:
    """One node; what a `Popen` has of the same names."""

    def __init__(self, words: Sequence[str], folder: Path | None = None, *, has_input: bool = False) -> None:
        told, tell = os.pipe()
        read_errors, errors = os.pipe()
        given, give = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY), None)
        try:
            _copies(_python_variables()).begin(words, folder, (given, errors, tell))
        finally:
            for each in (given, errors, tell):
                os.close(each)
        self.stderr: TextIO = os.fdopen(read_errors, encoding="utf-8")
        self.stdin: TextIO | None = None if give is None else os.fdopen(give, "w", encoding="utf-8")
        self._told = os.fdopen(told, "rb", buffering=0)
        self.returncode: int | None = None
        self.pid = self._number()

    def _number(self) -> int:
        number: int = NUMBER.unpack(self._told.read(NUMBER.size) or b"")[0]
        return number

    def wait(self, timeout: float) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a node", timeout)
            self.returncode = self._number()
            self._told.close()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def send_signal(self, how: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


# -- in the process that is copied


def load() -> None:
    """Load all of a node; what is loaded is never freed, nor searched for garbage."""
    gc.disable()
    for name in LOADED:
        import_module(name)
    gc.freeze()
    gc.enable()


def serve(control: socket.socket) -> bool:
    """Start copies while somebody asks for them. Returns in each copy, with True, and in the end."""
    waking, woken = socket.socketpair()
    waking.setblocking(False)
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGCHLD, signal.SIGINT)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which tells the tests too
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(1 << 10)
            _report_ended(running)
        if control in ready:
            asked, streams, _, _ = socket.recv_fds(control, MOST_ASKED, 3)
            if not asked:
                return False
            number = os.fork()
            if number == 0:
                signal.set_wakeup_fd(-1)
                for kind, handler in before.items():
                    signal.signal(kind, handler)
                for each in (control, waking, woken):
                    each.close()
                _become(asked, streams, list(running.values()))
                return True
            given, errors, running[number] = streams
            os.close(given)
            os.close(errors)
            os.write(running[number], NUMBER.pack(number))


def _report_ended(running: dict[int, int]) -> None:
    while running:
        number, status = os.waitpid(-1, os.WNOHANG)
        if number == 0:
            return
        tell = running.pop(number)
        with suppress(BrokenPipeError):  # nobody waits for it
            os.write(tell, NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(tell)


def _become(asked: bytes, streams: Sequence[int], others: Sequence[int]) -> None:
    """Be the node that was asked for."""
    words, folder, environment = json.loads(asked)
    given, errors, _ = streams
    os.dup2(given, 0)
    os.dup2(errors, 2)
    for each in (*streams, *others):
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["ledgerd", *words]


if __name__ == "__main__":
    load()
    if serve(socket.socket(fileno=int(sys.argv[1]))):
        sys.exit(import_module("ledgerd.cli.main").main())
