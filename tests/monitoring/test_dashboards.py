"""The dashboards: of the form that Grafana publishes, with families that there are, and up to date."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from ledgerd.metrics.families import FamilyKind
from ledgerd.metrics.table import FAMILIES
from scripts.generate_dashboards import FOLDER, text
from scripts.monitoring.panels import DASHBOARDS, Dashboard
from scripts.monitoring.prometheus import ALERTS
from tests.monitoring.grafana_schema import SchemaDashboard
from tests.monitoring.tools import METRIC, MONITORING

METRIC_VALUE = re.compile(r'[a-z]=~?"([^"]+)"')
KINDS = {"timeseries", "stat"}
UNITS = {"short", "s", "bytes", "Bps", "cps", "reqps", "percentunit"}
"""Of Grafana's units those that are used."""

SAMPLES = {
    name: family
    for family in FAMILIES
    for name in (
        [f"{family.name}_{part}" for part in ("bucket", "count", "sum")]
        if family.kind is FamilyKind.HISTOGRAM
        else [family.name]
    )
}


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda board: board.name)
def test_a_dashboard_has_the_form_that_grafana_publishes(board: Dashboard) -> None:
    read = msgspec.json.decode((FOLDER / f"{board.name}.json").read_bytes(), type=SchemaDashboard)

    assert (FOLDER / f"{board.name}.json").read_text(encoding="utf-8") == text(board), "run `make docs`"
    assert len({panel.id for panel in read.panels}) == len(read.panels) == len(board.panels)
    assert {panel.type for panel in read.panels} <= KINDS
    assert {panel.field_config.defaults.unit for panel in read.panels} <= UNITS
    cells = [(panel.grid_pos.x, panel.grid_pos.y) for panel in read.panels]
    assert len(set(cells)) == len(cells)
    assert all(panel.grid_pos.x + panel.grid_pos.w <= 24 for panel in read.panels)
    assert [variable.name for variable in read.templating.entries] == ["source", "node"]


@pytest.mark.parametrize("broken", ['"schemaVersion": 36', '"w": 12', '"refId": "A"', '"graphTooltip": 1'])
def test_what_grafana_does_not_know_is_found(broken: str) -> None:
    whole = text(DASHBOARDS[0])
    assert broken in whole
    name = broken.partition(":")[0]

    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(whole.replace(broken, f'{name}: "x"'), type=SchemaDashboard)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(whole.replace(broken, f'"unheard": 1, {broken}'), type=SchemaDashboard)


def test_there_are_no_other_dashboards() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{board.name}.json" for board in DASHBOARDS}


@pytest.mark.parametrize("path", [ALERTS, *sorted(FOLDER.glob("*.json"))], ids=lambda path: path.name)
def test_every_metric_that_is_asked_for_exists(path: Path) -> None:
    asked = set(METRIC.findall(path.read_text(encoding="utf-8")))

    assert asked
    assert sorted(asked - set(SAMPLES)) == []


def test_every_label_that_is_asked_for_has_that_value() -> None:
    known = {value for family in FAMILIES for label in family.labels for value in label.values}
    asked = {
        value
        for path in (ALERTS, *FOLDER.glob("*.json"))
        for value in METRIC_VALUE.findall(path.read_text(encoding="utf-8").replace('\\"', '"'))
    }

    assert asked >= {"median", "failed"}
    assert asked - known <= {"other", "main", "3.0", "$node", "ledgerd", "active|syncing", "signer_away|signer_refused"}


def test_the_provisioning_names_the_files_that_there_are() -> None:
    assert (MONITORING / "grafana" / "dashboards.yaml").exists()
    assert (MONITORING / "grafana" / "datasource.yaml").exists()
