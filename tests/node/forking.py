"""Nodes and their API workers as copies of one process that has loaded all of both, and does nothing else.

To load their modules takes them longer than all else that they do at their start. A copy is a process of its own, with
its arguments, folder, environment and streams; it runs the same `main`, and ends by itself or by signals. A worker is
no child of its node, and has not its limits. Tests of the start itself, or of what becomes of workers, name the
program, and have all loaded anew.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple
from unittest.mock import patch
from weakref import finalize

from ledgerd.supervision.processes import Child, module_command
from tests.patience import PATIENCE

NODE, WORKER = "ledgerd.cli.main", "ledgerd.rpc.worker"
LOADED = (
    *(NODE, "ledgerd.cli.process.node", "ledgerd.node.lifecycle"),
    *("ledgerd.cli.process.dev", "ledgerd.node.dev.development", "uvloop"),
    *(WORKER, "ledgerd.node.workers.api_worker", "ledgerd.rpc.http.streams.websocket"),
)
COPIED = {module_command("ledgerd.cli"): NODE, module_command(WORKER): WORKER}
MOST_PASSED = 250
"""Descriptors: the system passes three more at once."""
UNUSED = 512
"""No process that asks for copies has so many descriptors."""
MOST_ASKED = 1 << 17
"""Bytes of the words and the environment of a node."""
NUMBER = struct.Struct("<i")
TOLD = 3
"""The place, among what is passed, of where a number is told."""


class Order(NamedTuple):
    """What a copy is to be. It inherits these descriptors under their numbers."""

    module: str
    words: Sequence[str]
    folder: str
    environment: dict[str, str]
    inherited: Sequence[int] = ()


class Copies:
    """The process that is copied, as a run of tests and its nodes see it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    @classmethod
    def start(cls) -> Copies:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        run, lasting = os.pipe()
        with theirs:
            passed = (theirs.fileno(), run)
            command = (sys.executable, "-m", __name__, *map(str, passed))
            process = subprocess.Popen(  # noqa: S603 - ourselves
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=passed
            )
        os.close(run)
        atexit.register(process.wait, PATIENCE)
        atexit.register(os.close, lasting)
        atexit.register(ours.close)
        return cls(ours)

    def begin(self, order: Order, streams: Sequence[int]) -> None:
        """Start a copy. The streams are its three usual ones, and where its number is told and its exit code."""
        passed = [*streams, self._control.fileno(), *order.inherited]
        socket.send_fds(self._control, [json.dumps(order).encode()], passed)


def copies() -> Copies:
    """One for the whole run, and one for each way to set what Python reads at its start, such as where modules are."""
    return _copies(tuple(sorted(each for each in os.environ.items() if each[0].startswith("PYTHON"))))


@cache
def _copies(_variables: tuple[tuple[str, str], ...]) -> Copies:
    return Copies.start()


class CopiedProcess:
    """One copy; what a `Popen` has of the same names."""

    stderr: IO[str] | None = None

    def __init__(self, copies: Copies, order: Order, output: int, errors: int, written: str = "") -> None:
        """Its input is written as text (`w`) or bytes (`wb`), or is empty."""
        told, tell = os.pipe()
        given, give = os.pipe() if written else (os.open(os.devnull, os.O_RDONLY), -1)
        try:
            copies.begin(order, (given, output, errors, tell))
        finally:
            for each in (given, tell):
                os.close(each)
        self.stdin: IO[Any] | None = os.fdopen(give, written) if written else None
        self._told = told
        finalize(self, os.close, told)  # not before: several threads may wait
        self._reading = Lock()
        self.returncode: int | None = None
        self.pid = self._number()

    def _number(self) -> int:
        number: int = NUMBER.unpack(os.read(self._told, NUMBER.size))[0]
        return number

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a copy", timeout or 0.0)
        with self._reading:
            if self.returncode is None:
                self.returncode = self._number()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def send_signal(self, how: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class CopiedNode(CopiedProcess):
    """A node of a test, which reads what it says of errors."""

    def __init__(self, words: Sequence[str], folder: Path | None = None, *, has_input: bool = False) -> None:
        order = Order(NODE, words, str(folder or Path.cwd()), dict(os.environ))
        read_errors, errors = os.pipe()
        try:
            with Path(os.devnull).open("wb") as nowhere:
                super().__init__(copies(), order, nowhere.fileno(), errors, "w" if has_input else "")
        finally:
            os.close(errors)
        self.stderr = os.fdopen(read_errors, encoding="utf-8")


def copied_program(words: Sequence[str], folder: Path, environment: dict[str, str], log: int) -> CopiedProcess:
    """`ledgerd` with these arguments, and what it prints in a log."""
    return CopiedProcess(copies(), Order(NODE, words, str(folder), environment), log, log)


@contextmanager
def copied_children() -> Iterator[None]:
    """Have the nodes that this process starts itself be copies."""
    with patch.object(Child, "start", _copying(Child.start, copies())):
        yield


def _copying(usual: Callable[..., Child], copies: Copies) -> Callable[..., Child]:
    """Starts children, and has nodes, which write to a log, and API workers be copies."""

    def start(command: Sequence[str], *, inherited: Sequence[int] = (), **streams: Any) -> Child:
        module = COPIED.get(tuple(command[:3]))
        if module is None:
            return usual(command, inherited=inherited, **streams)
        order = Order(module, command[3:], str(Path.cwd()), dict(os.environ), inherited)
        log = streams.get("stdout")
        output, errors = (1, 2) if log is None else (log.fileno(), log.fileno())
        process: Any = CopiedProcess(copies, order, output, errors, "wb")
        return Child(process)

    return start


# -- in the process that is copied


def load() -> None:
    """Load all of a node; what is loaded is never freed, nor searched for garbage."""
    gc.disable()
    for name in LOADED:
        import_module(name)
    gc.freeze()
    gc.enable()


def serve(control: socket.socket, run: int) -> str:
    """Start copies while somebody asks for them. Returns in each copy, with its module, and in the end with none.

    What is left of them ends with the run, however that ends: `run` is a pipe that its processes keep open.
    """
    waking, woken = socket.socketpair()
    waking.setblocking(False)
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGCHLD, signal.SIGINT)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which tells the tests too
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    running: dict[int, int] = {}
    watched: list[socket.socket | int] = [control, woken, run]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if run in ready:
            for number in running:
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
            return ""
        if woken in ready:
            woken.recv(1 << 10)
            _report_ended(running)
        if control in ready:
            asked, passed, _, _ = socket.recv_fds(control, MOST_ASKED, MOST_PASSED)
            if not asked:
                return ""
            number = os.fork()
            if number == 0:
                signal.set_wakeup_fd(-1)
                for kind, handler in before.items():
                    signal.signal(kind, handler)
                for own in (control, waking, woken):
                    own.close()
                os.close(run)
                return _become(Order(*json.loads(asked)), passed, list(running.values()))
            running[number] = passed.pop(TOLD)
            for each in passed:
                os.close(each)
            _tell(running[number], number)


def _report_ended(running: dict[int, int]) -> None:
    while running:
        number, status = os.waitpid(-1, os.WNOHANG)
        if number == 0:
            return
        tell = running.pop(number)
        _tell(tell, os.waitstatus_to_exitcode(status))
        os.close(tell)


def _tell(stream: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it
        os.write(stream, NUMBER.pack(number))


def _become(order: Order, passed: Sequence[int], others: Sequence[int]) -> str:
    """Be what was asked for; gives the module that runs it."""
    for each in others:
        os.close(each)
    lifted = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, UNUSED) for each in passed]
    for each in passed:
        os.close(each)
    streams, (_, control, *inherited) = lifted[:TOLD], lifted[TOLD:]
    for each, number in zip((*streams, *inherited), (0, 1, 2, *order.inherited), strict=True):
        os.dup2(each, number)
    for each in lifted:
        if each != control:
            os.close(each)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.argv = ["ledgerd", *order.words]
    patch.object(Child, "start", _copying(Child.start, Copies(socket.socket(fileno=control)))).start()
    return order.module


if __name__ == "__main__":
    load()
    if module := serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])):
        sys.exit(import_module(module).main())
