"""Nodes as real processes on free loopback ports, each for a bounded time."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

from tests.node.forking import CopiedNode
from tests.patience import PATIENCE

PROGRAM = (sys.executable, "-m", "ledgerd.cli")
UNYIELDING = (sys.executable, "-m", "tests.node.unyielding")

LOOK_SECONDS = 0.5
"""Between two looks whether a node that is silent still runs."""

SERVES = {
    kind: re.compile(rf"(?:start listening for {kind} requests on |{kind}://)127\.0\.0\.1:(\d+)")
    for kind in ("http", "ws")
}
"""Where a node listens, in a line of its log or, of `ledgerd dev`, of its greeting."""


class NodeProcess:
    """One node, and the lines of its log."""

    def __init__(
        self,
        *words: str,
        program: Sequence[str] | None = None,
        folder: Path | None = None,
        has_input: bool = False,
    ) -> None:
        """Without a program it is a copy of a process that has loaded one."""
        self.process: subprocess.Popen[str] | CopiedNode
        if program is None:
            self.process = CopiedNode(words, folder, has_input=has_input)
        else:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*program, *words],
                stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
            )
        self.lines: list[str] = []
        self._fresh: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        if self.process.stderr is not None:
            for line in self.process.stderr:
                self.lines.append(line.rstrip("\n"))
                self._fresh.put(line)

    @property
    def log(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, words: str, count: int = 1) -> None:
        """Return when so many lines of the log have held these words."""
        self._wait(lambda: sum(words in line for line in self.lines) >= count, words)

    def _wait(self, is_there: Callable[[], bool], words: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_there():
            has_ended = not self._reader.is_alive()
            try:
                self._fresh.get(timeout=min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
            except Empty:
                if has_ended or time.monotonic() >= deadline:
                    raise AssertionError(f"the node never said {words!r}:\n{self.log}") from None

    def port(self, kind: str = "http") -> int:
        self._wait(lambda: any(map(SERVES[kind].search, self.lines)), f"where it listens for {kind}")
        return next(int(found[1]) for line in self.lines if (found := SERVES[kind].search(line)))

    def call(self, api: str, method: str, *arguments: object) -> Any:
        """The result of a request over HTTP, or its error object."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE)
        body = {"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1}
        try:
            connection.request("POST", "/", json.dumps(body))
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return answer.get("result", answer.get("error"))

    def status(self, headers: dict[str, str]) -> int:
        """The status of a request with these headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE)
        try:
            connection.request("POST", "/", "{}", headers)
            return connection.getresponse().status
        finally:
            connection.close()

    @property
    def head(self) -> int:
        number: int = self.call("database_api", "get_dynamic_global_properties")["head_block_number"]
        return number

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.wait()

    def wait(self) -> int:
        """The exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()


def run_to_end(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(  # noqa: S603 - our own program
        [*PROGRAM, *words], capture_output=True, text=True, cwd=folder, timeout=PATIENCE, check=False
    )


CONFIGURATIONS = Path(__file__).resolve().parents[2] / "share" / "ledgerd" / "config"

LOOPBACK = (
    "--webserver-http-endpoint=127.0.0.1:0",
    "--webserver-ws-endpoint=127.0.0.1:0",
    "--p2p-endpoint=127.0.0.1:0",
    "--webserver-thread-pool-size=1",
    "--shared-file-size=128M",
)
"""What keeps a node on this machine, and small."""


def words_of_testnet(folder: Path, *more: str) -> Sequence[str]:
    """A node of the testnet kind, from its template."""
    return ["--config-file", str(CONFIGURATIONS / "config_testnet.ini"), "--data-dir", str(folder), *LOOPBACK, *more]


def in_haste(folder: Path) -> str:
    """The option that has a node of the testnet kind make a block every 0.3 seconds: its clock is that much faster."""
    file = folder / "haste.toml"
    if not file.exists():
        now = int(time.time())
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(f'base = "testnet"\n[clock]\nbegan = {now}\nshowed = {now}\nrate = 10\n')
    return f"--chain={file}"
