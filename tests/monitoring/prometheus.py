"""A Prometheus as a process on a free loopback port, with the alerts of the node at another speed."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ledgerd.node.testnet.ports import free_ports
from tests.monitoring.tools import ALERTS, tool

PATIENCE = 90.0
LOOK_SECONDS = 0.2
DURATION = re.compile(r"(?<=for: )(\d+)([smhd])|(?<=\[)(\d+)([smhd])(?=\])|(?<=offset )(\d+)([smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
EVALUATIONS = re.compile(r"^prometheus_rule_group_iterations_total\{.*\} (\S+)$", re.MULTILINE)


def faster(rules: str, times: int) -> str:
    """Rules for a network whose clock is so many times as fast."""

    def shortened(found: re.Match[str]) -> str:
        number, unit = (each for each in found.groups() if each is not None)
        return f"{int(number) * SECONDS[unit] * 1_000 // times}ms"

    return DURATION.sub(shortened, rules)


class Prometheus:
    """A running Prometheus, asked over its HTTP interface."""

    def __init__(self, port: int) -> None:
        self._port = port

    def _get(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == http.client.OK, f"{path}: {text}"
            return text
        finally:
            connection.close()

    def is_ready(self) -> bool:
        try:
            return bool(self._get("/-/ready"))
        except (OSError, AssertionError):
            return False

    def query(self, expression: str) -> list[float]:
        """The values of an expression now; those that are no numbers are left out."""
        found: Any = json.loads(self._get(f"/api/v1/query?query={quote(expression)}"))
        values = [float(each["value"][1]) for each in found["data"]["result"]]
        return [value for value in values if value == value]  # noqa: PLR0124 - NaN is no value

    def firing(self) -> list[dict[str, str]]:
        """The labels of the alerts that fire."""
        found: Any = json.loads(self._get("/api/v1/alerts"))
        return [each["labels"] for each in found["data"]["alerts"] if each["state"] == "firing"]

    def evaluations(self) -> float:
        """How often the rules were evaluated."""
        return sum(map(float, EVALUATIONS.findall(self._get("/metrics"))))


def until(condition: Callable[[], object], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(LOOK_SECONDS)


@contextmanager
def prometheus(folder: Path, targets: Sequence[str], times: int) -> Iterator[Prometheus]:
    """Scrapes these every second, and evaluates the alerts as often."""
    folder.mkdir()
    (folder / "alerts.yml").write_text(faster(ALERTS.read_text(encoding="utf-8"), times), encoding="utf-8")
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        "rule_files: [alerts.yml]\n"
        f"scrape_configs: [{{job_name: ledgerd, static_configs: [{{targets: {json.dumps(list(targets))}}}]}}]\n",
        encoding="utf-8",
    )
    [port] = free_ports(1)
    words = (
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen([tool("prometheus"), *words], stdout=log, stderr=log) as process,  # noqa: S603 - Debian's
    ):
        try:
            running = Prometheus(port)
            until(running.is_ready, lambda: (folder / "log").read_text(errors="replace"))
            yield running
        finally:
            process.terminate()
            process.wait(PATIENCE)
