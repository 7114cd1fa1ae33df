"""A real Prometheus scrapes a network of nodes: every panel has data, and a validator that is stopped raises alerts."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.node.testnet.network import LocalNetwork, Wishes, prepare
from ledgerd.node.testnet.plan import HOST, Member
from ledgerd.protocol.constants import BLOCK_INTERVAL
from scripts.monitoring.panels import DASHBOARDS
from tests.monitoring.prometheus import PATIENCE, Prometheus, faster, prometheus, until
from tests.node.processes import PROGRAM

BLOCK_TIME = 0.5
TIMES = int(BLOCK_INTERVAL / BLOCK_TIME)
A_MINUTE = 60
"""Evaluations of the alerts, which come every second."""

METHODS = ("get_dynamic_global_properties", "get_config", "get_nothing_of_that_name")


@contextmanager
def scraped(folder: Path) -> Iterator[tuple[LocalNetwork, Prometheus]]:
    wishes = Wishes(nodes=3, validators=3, block_time=BLOCK_TIME, metrics=True)
    plan = prepare(folder / "network", wishes)
    targets = [f"{HOST}:{each.metrics_port}" for each in plan.members]
    with LocalNetwork(plan, PROGRAM) as network, prometheus(folder / "prometheus", targets, TIMES) as running:
        network.start()
        yield network, running


def ask(member: Member) -> None:
    """Requests, of which some are answered from the cache; they fail while the node starts."""
    connection = http.client.HTTPConnection(HOST, member.http_port, timeout=PATIENCE)
    try:
        for method in (*METHODS, *METHODS):
            body = {"jsonrpc": "2.0", "method": "call", "params": ["database_api", method, []], "id": 1}
            connection.request("POST", "/", json.dumps(body))
            connection.getresponse().read()
    except OSError:
        pass
    finally:
        connection.close()


def empty_panels(running: Prometheus) -> list[str]:
    """The panels that show nothing, by their queries as Grafana sends them."""
    return [
        f"{board.name}: {panel.title}: {query.expression}"
        for board in DASHBOARDS
        for panel in board.panels
        for query in panel.queries
        if not running.query(query.expression.replace("$node", ".*").replace("$__rate_interval", "10s"))
    ]


def alerts_of(running: Prometheus, name: str, **labels: str) -> bool:
    return any(each["alertname"] == name and labels.items() <= each.items() for each in running.firing())


def test_every_panel_has_data_and_a_stopped_validator_raises_the_alerts(tmp_path: Path) -> None:
    with scraped(tmp_path) as (network, running):
        first, second = network.plan.members[0], network.plan.members[1]
        (first.folder / "snapshots").mkdir(exist_ok=True)
        (first.folder / "snapshots" / "snapshot-block-5.vizjson").write_bytes(bytes(4096))

        def every_panel_has_data() -> bool:
            ask(first)
            return not empty_panels(running)

        until(every_panel_has_data, lambda: "\n".join(empty_panels(running)))
        assert not alerts_of(running, "LedgerdDown", instance=f"{HOST}:{second.metrics_port}")
        before = running.evaluations()

        stopped = network.processes[1]
        stopped.ask_to_stop()
        stopped.wait()
        [name] = second.validators
        until(
            lambda: (
                alerts_of(running, "LedgerdValidatorMisses", validator=name)
                and alerts_of(running, "LedgerdDown", instance=f"{HOST}:{second.metrics_port}")
            ),
            lambda: f"firing: {running.firing()}",
        )

        assert running.evaluations() - before <= A_MINUTE


def test_rules_are_made_faster_by_their_durations_alone() -> None:
    rules = 'for: 30s\nexpr: a{le="3.0"}[5m] > 60 and b offset 6h + 4 * 86400'

    assert faster(rules, 6) == 'for: 5000ms\nexpr: a{le="3.0"}[50000ms] > 60 and b offset 3600000ms + 4 * 86400'
