"""The process of a node in a test: a folder in memory where there is room, a log, and an end that comes for certain."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Self

import msgspec

from ledgerd.basics.closing import Closing, on_error
from ledgerd.supervision.processes import PIPE, Child, module_command
from ledgerd.testing.errors import NodeFailed
from ledgerd.testing.running.settings import Listening, NodeSettings

START_SECONDS = 120.0
"""A start takes one or two; on a machine that is busy with others, many more."""
STOP_SECONDS = 10.0
LISTENING_BYTES = 4096
LONGEST_LOG = 8 << 20
TAIL_LINES = 40
TAIL_BYTES = 32_768

MEMORY = Path("/dev/shm")  # noqa: S108 - directories in it are made by tempfile
ENOUGH = 512 << 20


def new_folder() -> Path:
    """A folder in memory, where blocks are durable at once; on the disk where there is not enough of it."""
    place = None
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ENOUGH:
        place = MEMORY
    return Path(tempfile.mkdtemp(prefix="ledgerd-test-", dir=place))


class NodeProcess(Closing):
    """One node. Its standard input is a pipe from this process: however that ends, the node ends too."""

    def __init__(self, folder: Path, child: Child, output: socket.socket) -> None:
        self.folder = folder
        self._child, self._output = child, output

    @classmethod
    def start(cls, settings: NodeSettings) -> Self:
        """Start a node in a folder, without waiting for it."""
        folder = Path(settings.folder)
        command = (*module_command("ledgerd.testing.running.program"), msgspec.json.encode(settings).decode())
        ours, theirs = socket.socketpair()
        with on_error(ours.close), on_error(lambda: shutil.rmtree(folder, ignore_errors=True)):
            with theirs, _log_of(folder).open("ab") as log:
                # A session of its own gets no Ctrl-C: pytest stops the node when it has shown what it has to show.
                child = Child.start(command, stdin=PIPE, stdout=theirs.fileno(), stderr=log, has_own_session=True)
            return cls(folder, child, ours)

    def listening(self) -> Listening:
        """Wait until it answers. `NodeFailed`: it does not, and is ended."""
        with on_error(self.close):
            return self._read_listening()

    def _read_listening(self) -> Listening:
        self._output.settimeout(START_SECONDS)
        line = b""
        try:
            while not line.endswith(b"\n") and len(line) < LISTENING_BYTES:
                piece = self._output.recv(LISTENING_BYTES)
                if not piece:
                    code = self._child.wait_or_kill(STOP_SECONDS)
                    raise NodeFailed(f"the node did not start (exit code {code}); its log:\n{self.log_since()}")
                line += piece
            return msgspec.json.decode(line, type=Listening)
        except TimeoutError:
            text = f"the node did not start in {START_SECONDS:.0f} s; its log:\n{self.log_since()}"
            raise NodeFailed(text) from None
        except msgspec.DecodeError:
            raise NodeFailed(f"the node said {line[:80]!r} in place of where it listens") from None

    @property
    def is_running(self) -> bool:
        return self._child.is_running

    def log_size(self) -> int:
        """The bytes of the log, which begins anew when it is long: it may lie in memory."""
        log = _log_of(self.folder)
        if not log.exists():
            return 0
        if log.stat().st_size > LONGEST_LOG:
            os.truncate(log, 0)
        return log.stat().st_size

    def log_since(self, offset: int = 0) -> str:
        """The last lines of what was logged after an offset."""
        try:
            with _log_of(self.folder).open("rb") as log:
                log.seek(max(offset, log.seek(0, os.SEEK_END) - TAIL_BYTES))
                return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-TAIL_LINES:])
        except OSError:
            return "(it has left no log)"

    def close(self) -> None:
        """Stop the node; kill it if that takes long."""
        self._output.close()
        self._child.release()
        self._child.wait_or_kill(STOP_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


def new_node() -> NodeProcess:
    """The node of a new chain."""
    return NodeProcess.start(NodeSettings(str(new_folder())))


def _log_of(folder: Path) -> Path:
    return folder / "node.log"
