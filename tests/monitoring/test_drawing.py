"""Pictures of the dashboards: they belong to the panels of today, and show what the queries have given."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from scripts.draw_dashboards import IMAGES, name_of
from scripts.monitoring.drawing import LINES, NO_DATA, bounds, mark, picture, value
from scripts.monitoring.panels import DASHBOARDS, Dashboard, DashboardPanel
from scripts.monitoring.prometheus import Series
from scripts.monitoring.queries import Query

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda board: board.name)
def test_a_picture_was_drawn_from_the_queries_of_today(board: Dashboard) -> None:
    text = (IMAGES / name_of(board)).read_text(encoding="utf-8")

    assert mark(board) in text, "run `make pictures`"
    assert NO_DATA not in text
    shown = [each.text for each in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - ours
    assert [panel.title for panel in board.panels if panel.title not in shown] == []
    assert "no picture of Grafana" in text
    assert f"images/{name_of(board)}" in (DOCS / "runbook.md").read_text(encoding="utf-8")


def test_another_query_asks_for_another_picture() -> None:
    (panel, *rest) = DASHBOARDS[0].panels
    other = DASHBOARDS[0]._replace(panels=(panel._replace(queries=(Query("up"),)), *rest))

    assert mark(other) != mark(DASHBOARDS[0])


def test_lines_are_where_their_values_are() -> None:
    board = Dashboard("x", "X & Y", (DashboardPanel("Age", "About", (Query("age"),), "s"),))
    points = [(100.0, 0.0), (150.0, 4.0), (200.0, float("nan"))]
    found = {"Age": [("{{instance}} <p50>", Series({"instance": "a:1"}, points))]}
    text = picture(board, found, {"a:1": "node 1"}, 100.0, 200.0)
    (line,) = ET.fromstring(text).iter("{http://www.w3.org/2000/svg}polyline")  # noqa: S314 - drawn here

    assert line.get("points") == "62,160 295,46"
    assert "node 1 &lt;p50&gt;" in text
    assert "X &amp; Y" in text
    assert NO_DATA not in text


def test_a_panel_without_data_says_so() -> None:
    board = Dashboard("x", "X", (DashboardPanel("Age", "About", (Query("age"),), kind="stat"),))

    assert NO_DATA in picture(board, {"Age": []}, {}, 0.0, 1.0)
    assert ">7.5 ms<" in picture(
        board._replace(panels=(board.panels[0]._replace(unit="s"),)),
        {"Age": [("", Series({}, [(0.0, 1.0), (1.0, 0.0075)]))]},
        {},
        0.0,
        1.0,
    )


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 0.0), (21.0, 21.0), (0.0, 97.0), (980_000.0, 1_000_000.0), (-3.0, 5.0), (1e-6, 3e-5)]
)
def test_an_axis_holds_all_values_in_round_steps(low: float, high: float) -> None:
    for unit in ("short", "bytes"):
        begin, end = bounds(low, high, unit)
        assert begin <= low
        assert end >= high
        assert end > begin
        assert (end - begin) / LINES <= 5 * max(high - low, abs(high), 1.0) / LINES


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (0.95, "percentunit", "95 %"),
        (0.0021, "s", "2.1 ms"),
        (0.0, "s", "0"),
        (52.5 * 1024 * 1024, "bytes", "52.5 MiB"),
        (2_048, "Bps", "2 KiB/s"),
        (1.5, "reqps", "1.5 /s"),
        (80_012_345, "short", "80 M"),
        (990_000, "short", "990000"),
        (12.0, "short", "12"),
    ],
)
def test_values_have_their_units(number: float, unit: str, text: str) -> None:
    assert value(number, unit) == text
