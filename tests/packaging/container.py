"""Containers without an engine: a program over layers of files, in namespaces of its own, as `docker run` starts it.

Needs Linux and root. No packet leaves: the network inside has a loopback and nothing else, so what listens there does
so on the ports that are documented, and what it was told to connect to is not there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from tests.patience import PATIENCE

LOOK_AGAIN = 0.05

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FIRST_PROCESS = Path(__file__).with_name("first_process.py")
NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts")

ASKING = (
    "import http.client, sys; c = http.client.HTTPConnection(sys.argv[1], timeout=20); "
    "c.request(sys.argv[2], sys.argv[3], sys.argv[4] or None, {'Content-Type': 'application/json'}); "
    "r = c.getresponse(); print(r.status, r.read().decode())"
)
SYNC_CHECK = {
    "jsonrpc": "2.0",
    "method": "call",
    "params": ["database_api", "get_dynamic_global_properties", []],
    "id": 1,
}


def require_root() -> None:
    """Skip where there is no right to make namespaces; never where it is decided over a merge."""
    if sys.platform != "linux" or os.geteuid() != 0:
        assert not os.environ.get("CI"), "CI runs these tests as root, on Linux"
        pytest.skip("containers are made by root, on Linux")


class Container:
    """One container while it runs, and what it has said."""

    def __init__(
        self,
        folder: Path,
        base: Path,
        layers: Sequence[Path],
        program: Sequence[str],
        *,
        environment: Mapping[str, str],
        volumes: Mapping[str, Path],
        users_of: int | None = None,
    ) -> None:
        """Start it; in the user namespace of another process where one is named."""
        self._users_of = users_of
        workshop = folder / "workshop"
        workshop.mkdir(exist_ok=True)
        self.environment = {"PATH": PATH, **environment}
        order = {
            "workshop": str(workshop),
            "base": str(base),
            "layers": [str(layer) for layer in (*layers, _empty(folder / "own"))],
            "volumes": {place: str(source) for place, source in volumes.items()},
            "keeps_layer": False,
            "program": list(program),
            "environment": self.environment,
        }
        entering = ["nsenter", "--target", str(users_of), "--user"] if users_of else []
        first = [sys.executable, str(FIRST_PROCESS), json.dumps(order)]
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [*entering, "unshare", *NAMESPACES, "--fork", "--kill-child", *first],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._news = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any, lines: list[str]) -> None:
        for line in iter(stream.readline, ""):
            with self._news:
                lines.append(line.rstrip("\n"))
                self._news.notify_all()

    def _lines(self, words: str) -> int:
        return sum(words in line for line in list(self.out))

    @property
    def log(self) -> str:
        return "\n".join([*self.out, "-- on the error stream:", *self.err])

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Return when something holds; look at each line of the log and now and then, and give up in the end."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            ended = self.process.poll() is not None
            if time.monotonic() > deadline or (ended and not any(map(threading.Thread.is_alive, self._readers))):
                raise AssertionError(f"{what} did not come:\n{self.log}")
            with self._news:
                self._news.wait(LOOK_AGAIN)

    def wait_for(self, words: str, count: int = 1) -> None:
        self.until(lambda: self._lines(words) >= count, f"{words!r} in the log")

    @property
    def first(self) -> int:
        """The first process of the container, by its number outside."""
        outside = self.process.pid
        children = Path(f"/proc/{outside}/task/{outside}/children")
        self.until(lambda: bool(children.read_text()), "its first process")
        return int(children.read_text().split()[0])

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run something inside, as `docker exec` does."""
        entering = [
            "nsenter",
            "--target",
            str(self.first),
            "--mount",
            "--net",
            "--pid",
            "--ipc",
            "--uts",
            "--root",
            "--wd",
            *(["--user"] if self._users_of else []),
        ]
        done = subprocess.run(  # noqa: S603 - our own program
            [*entering, *words], capture_output=True, text=True, check=False, timeout=PATIENCE, env=self.environment
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}\n{self.log}"
        return done

    def ask(self, address: str, path: str = "/", body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """The status and the JSON of an answer to a request from inside."""
        entering = ["nsenter", "--target", str(self.first), "--net"]
        method, text = ("GET", "") if body is None else ("POST", json.dumps(body))
        done = subprocess.run(  # noqa: S603 - our own program
            [*entering, sys.executable, "-I", "-S", "-c", ASKING, address, method, path, text],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{address}{path}: {done.stderr}\n{self.log}"
        status, _, answer = done.stdout.partition(" ")
        return int(status), json.loads(answer)

    def head(self, address: str = "127.0.0.1:8090") -> int:
        """What the check of the synchronization answers."""
        status, answer = self.ask(address, body=SYNC_CHECK)
        assert status == 200
        assert answer["id"] == 1
        number: int = answer["result"]["head_block_number"]
        return number

    def listeners(self) -> set[str]:
        """Every address that is listened on inside, as `0.0.0.0:8090`."""
        rows = [line.split() for line in self.run("cat", "/proc/net/tcp").stdout.splitlines()[1:]]
        return {_address(row[1]) for row in rows if row[3] == "0A"}

    def stop(self, number: int) -> int:
        """Send a signal to the first process, and give what the container ends with."""
        os.kill(self.first, number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.kill(self.first, signal.SIGKILL)  # and with it, all that is in the container
        self.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def _empty(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _address(text: str) -> str:
    """An address of `/proc/net/tcp`."""
    host, port = text.split(":")
    return f"{'.'.join(str(byte) for byte in reversed(bytes.fromhex(host)))}:{int(port, 16)}"
