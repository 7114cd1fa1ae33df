"""Draws `docs/images/dashboard-*.svg`: every panel of every dashboard, from what its queries give in a Prometheus that
has scraped a network of nodes for a while.

python -m scripts.draw_dashboards
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ledgerd.cli.process.testnet import PROGRAM
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import HOST, Member, write_secret
from ledgerd.protocol.constants import BLOCK_INTERVAL
from scripts.monitoring.drawing import NO_DATA, Drawn, picture
from scripts.monitoring.panels import DASHBOARDS, Dashboard
from scripts.monitoring.prometheus import Prometheus, prometheus

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
NODES, VALIDATORS, BLOCK_TIME = 3, 21, 0.5
LOADED, STOPPED, ALL = 45.0, 90.0, 120.0
"""Seconds from the start: when clients begin, when a node is stopped, and when the pictures are taken."""
STEP = 2.0
METHODS = ("get_dynamic_global_properties", "get_config", "get_nothing_of_that_name")
PATIENCE = 10.0


def name_of(board: Dashboard) -> str:
    """The file of a dashboard's picture."""
    return f"dashboard-{board.name}.svg"


def series_of(running: Prometheus, board: Dashboard, begin: float, end: float) -> dict[str, Drawn]:
    """What each panel shows, by its title: its queries as Grafana sends them."""
    return {
        panel.title: [
            (query.legend, series)
            for query in panel.queries
            for series in running.over_time(
                query.expression.replace("$node", ".*").replace("$__rate_interval", "10s"), begin, end, STEP
            )
        ]
        for panel in board.panels
    }


def pictures(running: Prometheus, names: Mapping[str, str], begin: float, end: float) -> dict[str, str]:
    """Every dashboard, by the file of its picture."""
    return {
        name_of(board): picture(board, series_of(running, board, begin, end), names, begin, end) for board in DASHBOARDS
    }


def ask(member: Member) -> None:
    """Requests, of which some are answered from the cache; they fail while the node starts."""
    connection = http.client.HTTPConnection(HOST, member.http_port, timeout=PATIENCE)
    with suppress(OSError):
        for method in (*METHODS, *METHODS):
            body = {"jsonrpc": "2.0", "method": "call", "params": ["database_api", method, []], "id": 1}
            connection.request("POST", "/", json.dumps(body))
            connection.getresponse().read()
    connection.close()


@contextmanager
def scraped(folder: Path, settings: LocalNetworkSettings) -> Iterator[tuple[LocalNetwork, Prometheus]]:
    """A network of nodes, and the Prometheus that scrapes it.

    The first node watches all validators, and has a webhook whose receiver never answers.
    """
    plan = prepare(folder / "network", settings)
    targets = [f"{HOST}:{each.metrics_port}" for each in plan.members]
    times = int(BLOCK_INTERVAL / settings.block_time)
    with LocalNetwork(plan, PROGRAM) as network, prometheus(folder / "prometheus", targets, times) as running:
        watched = "".join(f"validator-monitor = {name}\n" for each in plan.members for name in each.validators[:3])
        config, secret = plan.members[0].config, plan.members[0].folder / "webhook.secret"
        write_secret(secret, "between us")
        hook = f"history-webhook = http://{HOST}:9/ secret={secret} start=1\n"
        write_secret(config, watched + hook + config.read_text(encoding="utf-8"))
        snapshots = plan.members[0].folder / "snapshots"
        snapshots.mkdir(exist_ok=True)
        (snapshots / "snapshot-block-5.vizjson").write_bytes(bytes(4096))
        network.start()
        yield network, running


def instances(members: Sequence[Member]) -> dict[str, str]:
    """What the nodes are called, by what Prometheus calls them."""
    return {f"{HOST}:{each.metrics_port}": f"node {place}" for place, each in enumerate(members, start=1)}


def main() -> None:
    """Run a network, and draw every dashboard."""
    settings = LocalNetworkSettings(nodes=NODES, validators=VALIDATORS, block_time=BLOCK_TIME, metrics=True)
    with tempfile.TemporaryDirectory() as folder, scraped(Path(folder), settings) as (network, running):
        began = time.time()
        is_whole = True
        while (age := time.time() - began) < ALL:
            if age > LOADED:
                ask(network.plan.members[0])
            if age > STOPPED and is_whole:
                network.processes[-1].ask_to_stop()
                is_whole = False
            time.sleep(0.05)
        drawn = pictures(running, instances(network.plan.members), began, time.time())
    for name, text in drawn.items():
        (IMAGES / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {text.count(NO_DATA)} panels without data\n")


if __name__ == "__main__":
    main()
