"""A real Prometheus scrapes a network of nodes: every panel has data, and a validator that is stopped raises alerts."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import urlopen

from ledgerd.node.testnet.network import LocalNetworkSettings
from ledgerd.node.testnet.plan import HOST
from scripts.draw_dashboards import ask, instances, pictures, scraped
from scripts.monitoring.drawing import NO_DATA
from scripts.monitoring.panels import DASHBOARDS
from scripts.monitoring.prometheus import PATIENCE, Prometheus, faster, until
from tests.monitoring.tools import promtool
from tests.node.forking import copied_children

BLOCK_TIME = 0.5
A_MINUTE = 60
"""Evaluations of the alerts, which come every second."""


def empty_panels(running: Prometheus) -> list[str]:
    """The panels that show nothing, by their queries as Grafana sends them."""
    return [
        f"{board.name}: {panel.title}: {query.expression}"
        for board in DASHBOARDS
        for panel in board.panels
        for query in panel.queries
        if not running.query(query.expression.replace("$node", ".*").replace("$__rate_interval", "10s"))
    ]


def page(port: int) -> str:
    with urlopen(f"http://{HOST}:{port}/metrics", timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
    return text


def alerts_of(running: Prometheus, name: str, **labels: str) -> bool:
    return any(each["alertname"] == name and labels.items() <= each.items() for each in running.firing())


def test_every_panel_has_data_and_a_stopped_validator_raises_the_alerts(tmp_path: Path) -> None:
    settings = LocalNetworkSettings(nodes=3, validators=3, block_time=BLOCK_TIME, metrics=True)
    with copied_children(), scraped(tmp_path, settings) as (network, running):
        first, second = network.plan.members[0], network.plan.members[1]
        began = time.time()

        def every_panel_has_data() -> bool:
            ask(first)
            return not empty_panels(running)

        until(every_panel_has_data, lambda: "\n".join(empty_panels(running)))

        def undrawn() -> list[str]:
            drawn = pictures(running, instances(network.plan.members), began, time.time())
            return [name for name, text in drawn.items() if NO_DATA in text or "<polyline" not in text]

        until(lambda: not undrawn(), lambda: f"{undrawn()}")
        checked = promtool("check", "metrics", given=page(first.metrics_port))
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
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
