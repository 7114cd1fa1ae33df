"""How soon the page in Chromium shows a new block of a node on this machine, and what a request for the page costs.

The time of a block is from the request to make it, which includes the making, until the frame with its number is drawn.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.nodes import start_node
from scripts.chromium import Chromium
from tests.node.processes import NodeProcess

BLOCKS, REQUESTS = 100, 2_000
TARGET = 300.0
"""Milliseconds, for the slowest of a hundred."""
BETWEEN = 0.05

WATCH = """{
  window.shown = {};
  const head = document.getElementById("head");
  new MutationObserver(() => requestAnimationFrame(() => {
    window.shown[head.textContent.replaceAll(",", "")] ??= performance.timeOrigin + performance.now();
  })).observe(head, { childList: true, characterData: true, subtree: true });
}"""


def percentile(values: list[float], share: float) -> float:
    """The value that a share of all are not above."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def shown_after(node: NodeProcess, browser: Chromium) -> list[float]:
    """Milliseconds for each of the blocks."""
    tab = browser.open(f"http://127.0.0.1:{node.port()}/")
    tab.wait_for("/[0-9]/.test(document.getElementById('head').textContent)")
    tab.evaluate(WATCH)
    asked: dict[str, float] = {}
    for _ in range(BLOCKS):
        began = 1_000 * time.time()
        asked[str(node.call("dev_api", "mine_blocks", 1)["head_block_number"])] = began
        time.sleep(BETWEEN)
    tab.wait_for(f"'{next(reversed(asked))}' in window.shown")
    shown = tab.evaluate("window.shown")
    way = tab.text("#connection")
    tab.close()
    sys.stdout.write(f"followed {way}: {len(shown)} of {BLOCKS} blocks were drawn\n")
    return [shown[number] - began for number, began in asked.items() if number in shown]


def cost_of(port: int, method: str, path: str, body: bytes | None) -> float:
    """Microseconds of a request over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    began = time.perf_counter()
    for _ in range(REQUESTS):
        connection.request(method, path, body)
        connection.getresponse().read()
    taken = time.perf_counter() - began
    connection.close()
    return 1e6 * taken / REQUESTS


def main() -> None:
    """Measure both ways in which the page follows, then the requests of a stranger."""
    sys.stdout.write(f"{os.cpu_count()} processors\n")
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        for name, websocket in (("socket", "127.0.0.1:0"), ("polling", "localhost:0")):
            words = (
                "--data-dir",
                str(Path(folder) / name),
                "--block-time=3600",
                "--http=127.0.0.1:0",
                "--ws",
                websocket,
            )
            with start_node("dev", *words) as node:
                taken = shown_after(node, browser)
                middle, slow = percentile(taken, 0.5), percentile(taken, 0.99)
                verdict = "" if slow <= TARGET else "   MISSED"
                sys.stdout.write(
                    f"{name:>8}: a block is drawn after {middle:5.0f} ms (median), {slow:5.0f} ms (p99; target "
                    f"{TARGET:.0f} ms){verdict}\n"
                )
                if name == "polling":
                    continue
                status = b'{"jsonrpc":"2.0","id":1,"method":"node_api.follow_status","params":[0]}'
                facts = b'{"jsonrpc":"2.0","id":1,"method":"database_api.get_dynamic_global_properties","params":[]}'
                rows = (("GET /", "GET", "/", None), ("status", "POST", "/", status), ("globals", "POST", "/", facts))
                for what, method, path, body in rows:
                    sys.stdout.write(f"{what:>8}: {cost_of(node.port(), method, path, body):5.0f} us a request\n")


if __name__ == "__main__":
    main()
