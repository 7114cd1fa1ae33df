"""docs/applications.md: a reader's first application, done step by step."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

from tests.docs.guides import Reader, Step, assert_printed, lessons_of
from tests.docs.ports import HOST, free_base
from tests.docs.tutorials import ANY_METRICS
from tests.patience import PATIENCE


def wait_for_blocks(http: str, senders: int) -> None:
    """A moment."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "best"}).encode()
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        try:
            with urlopen(f"http://{http}", body, timeout=PATIENCE) as answer:
                if len(json.load(answer)["result"]) >= senders:
                    return
        except (URLError, ConnectionError):
            pass
        sleep(0.1)
    raise AssertionError("the application never had the blocks")


def test_the_first_application_does_what_the_page_says(tmp_path: Path) -> None:
    base = free_base()
    chain, http = f"{HOST}:{base}", f"{HOST}:{base + 2}"
    running = {
        "ledgerd dev": f"ledgerd dev --http {chain} --ws {HOST}:{base + 1} {ANY_METRICS}",
        f"{HOST}:8090": chain,
        f"{HOST}:8095": http,
    }
    with Reader(tmp_path) as reader:
        for step, shown in lessons_of("applications.md", running):
            if step.kind == "sh asked":
                wait_for_blocks(http, senders=3)
                assert_printed(shown.strip(), reader.take(Step("sh", step.text)))
                continue
            printed = reader.take(step)
            if step.kind == "sh background":
                reader.wait_for(printed, "listens on" if "app run" in step.text else "Try it:")
            elif shown:
                assert_printed(shown, printed)
        for log in ("terminal-1.log", "terminal-0.log"):
            reader.interrupt(log)
