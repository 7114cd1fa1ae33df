"""The tutorials that run on `ledgerd dev`, done step by step, each output compared with the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.request import urlopen

from tests.docs.guides import Lesson, Reader, Step, assert_printed, lessons_of
from tests.docs.ports import HOST, free_base
from tests.patience import PATIENCE

USUAL = f"{HOST}:8090"
ANY_METRICS = f"--metrics {HOST}:0"
"""By default they are far above the port of HTTP, where another test may listen."""


class DevPorts:
    """Free ports for the chain of a tutorial."""

    def __init__(self) -> None:
        base = free_base()
        self.http = f"{HOST}:{base}"
        self.running = {
            "ledgerd dev": f"ledgerd dev --http {self.http} --ws {HOST}:{base + 1} {ANY_METRICS}",
            USUAL: self.http,
        }
        """What stands for what is in the documents."""

    def answer(self, method: str, *arguments: object) -> str:
        """What the chain answers to a request, as it stands."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": arguments}
        with urlopen(f"http://{self.http}", json.dumps(body).encode(), timeout=PATIENCE) as answer:
            text: str = answer.read().decode()
        return text

    def ask(self, method: str, *arguments: object) -> Any:
        """The result of a request to the chain."""
        return json.loads(self.answer(method, *arguments))["result"]


def go_through(reader: Reader, lessons: Iterable[Lesson]) -> None:
    """Do these steps; what they print must be what the page shows."""
    for step, shown in lessons:
        printed = reader.take(step)
        if step.kind == "sh background":
            reader.wait_for(printed, "Try it:")
        elif shown:
            assert_printed(shown, printed)


def program(name: str, ports: DevPorts) -> Step:
    """A program of docs/markets.md."""
    return next(step for step, _ in lessons_of("markets.md", ports.running) if step.kind == f"python {name}")
