"""Writes Grafana's dashboards into `share/ledgerd/monitoring/dashboards/`, from the tables of panels."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from scripts.monitoring.panels import DASHBOARDS, Dashboard, DashboardPanel

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "share" / "ledgerd" / "monitoring" / "dashboards"

SCHEMA_VERSION = 36
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH, HEIGHT, COLUMNS = 12, 8, 2


def panel(shown: DashboardPanel, place: int) -> dict[str, Any]:
    """A panel at its place: two in a row."""
    return {
        "id": place + 1,
        "type": shown.kind,
        "title": shown.title,
        "description": shown.about,
        "datasource": SOURCE,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": place % COLUMNS * WIDTH, "y": place // COLUMNS * HEIGHT},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": SOURCE,
                "expr": each.expression,
                "legendFormat": each.legend,
            }
            for number, each in enumerate(shown.queries)
        ],
        "fieldConfig": {"defaults": {"unit": shown.unit}, "overrides": []},
        "options": {},
        "transformations": [],
        "transparent": False,
        "repeatDirection": "h",
    }


def variable(name: str, kind: str, **more: object) -> dict[str, Any]:
    """A choice at the top of a dashboard."""
    return {"name": name, "type": kind, "hide": 0, "skipUrlSync": False, **more}


def dashboard(board: Dashboard) -> dict[str, Any]:
    """A dashboard as Grafana reads it."""
    nodes = "label_values(ledgerd_chain_head_block, instance)"
    return {
        "uid": f"ledgerd-{board.name}",
        "title": board.title,
        "tags": ["ledgerd"],
        "timezone": "browser",
        "editable": True,
        "graphTooltip": 1,
        "style": "dark",
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                variable("source", "datasource", label="Prometheus", query="prometheus"),
                variable(
                    "node",
                    "query",
                    label="Node",
                    query=nodes,
                    datasource=SOURCE,
                    refresh=2,
                    multi=True,
                    includeAll=True,
                    allValue=".*",
                    current={"text": "All", "value": "$__all"},
                ),
            ]
        },
        "annotations": {"list": []},
        "links": [],
        "panels": [panel(shown, place) for place, shown in enumerate(board.panels)],
    }


def text(board: Dashboard) -> str:
    """The file."""
    return json.dumps(dashboard(board), indent=2) + "\n"


def main() -> int:
    """Write all dashboards, and no others."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for board in DASHBOARDS:
        (FOLDER / f"{board.name}.json").write_text(text(board), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
