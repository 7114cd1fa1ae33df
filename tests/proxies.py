"""nginx of the distribution as tests run it, with a configuration out of a document, and HAProxy's check of one.

In CI a missing program fails the tests; elsewhere they are skipped, which the end of the run says, with their number.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.memory import memory_folder
from tests.patience import PATIENCE

ENOUGH = 64 << 20
UNPRIVILEGED = "nobody"
AROUND = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{inner}
}}
"""

_left_out: list[str] = []


def program(name: str) -> str:
    """Where a program is; skips, or fails in CI, where it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        reason = f"{name} is not installed; scripts/install-tools installs it"
        assert not os.environ.get("CI"), reason
        _left_out.append(name)
        pytest.skip(reason)
    return found


@contextmanager
def running_nginx(inner: str, port: int) -> Iterator[None]:
    """Nginx with a configuration, as a user without rights, until the end of the block; it listens on the port."""
    command = program("nginx")
    folder = Path(tempfile.mkdtemp(prefix="nginx-", dir=memory_folder(ENOUGH)))
    file = folder / "nginx.conf"
    file.write_text(AROUND.format(folder=folder, inner=inner), encoding="utf-8")
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    try:
        with subprocess.Popen(  # noqa: S603 - the program of the distribution
            [command, "-p", str(folder), "-c", str(file), "-e", "stderr"], user=user, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                _wait_for(port, process)
                yield
            finally:
                process.terminate()
                _, said = process.communicate(timeout=PATIENCE)
                assert "[emerg]" not in said, said
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            return
        time.sleep(0.02)
    raise AssertionError(f"nginx does not listen: exit code {process.poll()}")


def haproxy_fault(text: str, folder: Path) -> str:
    """What HAProxy finds wrong with a configuration; nothing where that is sound."""
    file = folder / "haproxy.cfg"
    file.write_text(text, encoding="utf-8")
    command = [program("haproxy"), "-c", "-q", "-f", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 - as above
    return "" if done.returncode == 0 and "WARNING" not in done.stderr else done.stderr or f"code {done.returncode}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    for name in dict.fromkeys(_left_out):
        terminalreporter.write_line(f"{name} is not installed: {_left_out.count(name)} tests of API nodes left out")
