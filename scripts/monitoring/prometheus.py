"""A Prometheus as a process on a free loopback port, with the alerts of the node at another speed."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from ledgerd.node.testnet.plan import free_ports

ALERTS = Path(__file__).resolve().parents[2] / "share" / "ledgerd" / "monitoring" / "alerts.yml"

PATIENCE = 90.0
LOOK_SECONDS = 0.2
DURATION = re.compile(r"(?<=for: )(\d+)([smhd])|(?<=\[)(\d+)([smhd])(?=\])|(?<=offset )(\d+)([smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
EVALUATIONS = re.compile(r"^prometheus_rule_group_iterations_total\{.*\} (\S+)$", re.MULTILINE)


class Series(NamedTuple):
    """The values of a query over time, for one set of labels."""

    labels: dict[str, str]
    points: list[tuple[float, float]]
    """Seconds since 1970, and the value then."""


class PrometheusError(Exception):
    """Prometheus is missing, does not answer, or refuses a query."""


def tool(name: str) -> str:
    """The path of a tool of Debian's package."""
    found = shutil.which(name)
    if found is None:
        raise PrometheusError(f"{name} is not installed: scripts/install-tools does that, as root")
    return found


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
            if answer.status != http.client.OK:
                raise PrometheusError(f"{path}: {text}")
            return text
        finally:
            connection.close()

    def is_ready(self) -> bool:
        """Whether it answers queries."""
        try:
            return bool(self._get("/-/ready"))
        except (OSError, PrometheusError):
            return False

    def over_time(self, expression: str, begin: float, end: float, step: float) -> list[Series]:
        """The values of an expression from one moment to another."""
        words = {"query": expression, "start": begin, "end": end, "step": step}
        found: Any = json.loads(self._get(f"/api/v1/query_range?{urlencode(words)}"))
        return [
            Series(each["metric"], [(float(at), float(value)) for at, value in each["values"]])
            for each in found["data"]["result"]
        ]

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
    """Wait for a condition; raises an error that says what is the case instead."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise PrometheusError(what())
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
