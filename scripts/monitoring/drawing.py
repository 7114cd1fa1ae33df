"""Draws a dashboard as SVG from what its queries give: lines over time, or numbers, two panels in a row."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from html import escape

from scripts.monitoring.panels import Dashboard, DashboardPanel
from scripts.monitoring.prometheus import Series

Drawn = Sequence[tuple[str, Series]]
"""The series of a panel, each with the legend of its query."""

WIDTH, HEIGHT, GAP, TOP = 540, 218, 12, 56
LEFT, RIGHT, UPPER, LOWER = 62, 12, 46, 58
LINES = 4
COLOURS = ("#1a5fd0", "#14753c", "#c77700", "#8a3ab9", "#b3261e", "#0f7c86", "#6b5b2e", "#57646f")
NO_DATA = "No data"
ORIGIN = "Drawn by scripts/pictures from the queries of this dashboard; no picture of Grafana."
MOST_SHOWN = 4
"""Names under a panel."""
NAME = re.compile(r"\{\{(\w+)\}\}")
STYLE = (
    "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#16202c}.soft{fill:#57646f;font-size:11px}"
    ".title{font-weight:600;font-size:13px}.head{font-weight:600;font-size:17px}.big{font-weight:600;font-size:21px}"
    ".line{fill:none;stroke-width:1.6}.grid{stroke:#d9dfe5}.card{fill:#fff;stroke:#d9dfe5}"
)
BINARY = ("", "Ki", "Mi", "Gi", "Ti")
THOUSANDS = ("", "k", "M", "G")
RATES = {"cps": "/s", "reqps": "/s"}


def fingerprint(board: Dashboard) -> str:
    """What a picture is drawn from: titles, units and queries of all panels."""
    told = [[each.title, each.unit, each.kind, [list(query) for query in each.queries]] for each in board.panels]
    return hashlib.sha256(json.dumps([board.title, told]).encode()).hexdigest()


def mark(board: Dashboard) -> str:
    """The line of a picture that says so."""
    return f"<!-- drawn from queries with SHA-256 {fingerprint(board)} -->"


def picture(board: Dashboard, found: Mapping[str, Drawn], names: Mapping[str, str], begin: float, end: float) -> str:
    """The dashboard; `found` has the series of each panel by its title, `names` what instances are called."""
    rows = math.ceil(len(board.panels) / 2)
    width, height = 2 * WIDTH + 3 * GAP, TOP + rows * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        mark(board),
        f'<style>{STYLE}</style><rect width="{width}" height="{height}" fill="#f6f7f9"/>',
        f'<text class="head" x="{GAP}" y="26">{escape(board.title)}</text>',
        f'<text class="soft" x="{GAP}" y="44">{ORIGIN}</text>',
    ]
    for place, panel in enumerate(board.panels):
        x, y = GAP + place % 2 * (WIDTH + GAP), TOP + place // 2 * (HEIGHT + GAP)
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _panel(panel, [(_name(legend, each, names), each) for legend, each in found[panel.title]], begin, end)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _name(legend: str, series: Series, names: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        text = series.labels.get(found[1], "")
        return names.get(text, text) if found[1] == "instance" else text

    return NAME.sub(value, legend)


def _panel(panel: DashboardPanel, named: Sequence[tuple[str, Series]], begin: float, end: float) -> list[str]:
    drawn = [
        f'<rect class="card" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="12" y="20">{escape(panel.title)}</text>',
        f'<text class="soft" x="12" y="36">{escape(_short(panel.about))}</text>',
    ]
    known = [
        (name, points) for name, series in named if (points := [each for each in series.points if _is_number(each)])
    ]
    known.sort()
    if not known:
        return [*drawn, f'<text class="soft" x="{WIDTH // 2}" y="{HEIGHT // 2}">{NO_DATA}</text>']
    return drawn + (_numbers(panel, known) if panel.kind == "stat" else _graph(panel, known, begin, end))


def _is_number(point: tuple[float, float]) -> bool:
    return math.isfinite(point[1])


def _short(about: str, longest: int = 84) -> str:
    return about if len(about) <= longest else f"{about[: longest - 3].rsplit(' ', 1)[0]} ..."


Known = Sequence[tuple[str, Sequence[tuple[float, float]]]]


def _numbers(panel: DashboardPanel, known: Known) -> list[str]:
    """The last value of each series."""
    drawn = []
    for row, (name, points) in enumerate(known[:MOST_SHOWN]):
        y = 72 + 34 * row
        drawn.append(f'<text class="big" x="12" y="{y}">{value(points[-1][1], panel.unit)}</text>')
        drawn.append(f'<text class="soft" x="170" y="{y}">{escape(name)}</text>')
    return drawn


def _graph(panel: DashboardPanel, known: Known, begin: float, end: float) -> list[str]:
    values = [number for _, points in known for _, number in points]
    low, high = bounds(min(values), max(values), panel.unit)
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - UPPER - LOWER
    drawn = []
    for line in range(LINES + 1):
        y = UPPER + down - down * line / LINES
        label = value(low + (high - low) * line / LINES, panel.unit)
        drawn.append(f'<path class="grid" d="M{LEFT} {y:.0f}H{WIDTH - RIGHT}"/>')
        drawn.append(f'<text class="soft" text-anchor="end" x="{LEFT - 6}" y="{y + 4:.0f}">{label}</text>')
    for at, word in ((LEFT, "0 s"), (WIDTH - RIGHT - 30, f"{end - begin:.0f} s")):
        drawn.append(f'<text class="soft" x="{at}" y="{HEIGHT - LOWER + 15}">{word}</text>')
    for number, (name, points) in enumerate(known):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(
            f"{LEFT + across * (at - begin) / (end - begin):.0f},{UPPER + down * (high - each) / (high - low):.0f}"
            for at, each in points
        )
        drawn.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        if number < MOST_SHOWN:
            drawn += _legend(number, name, colour, len(known))
    return drawn


def _legend(number: int, name: str, colour: str, count: int) -> list[str]:
    x, y = 12 + number % 2 * (WIDTH // 2), HEIGHT - 27 + number // 2 * 17
    more = f" and {count - MOST_SHOWN} more" if number == MOST_SHOWN - 1 and count > MOST_SHOWN else ""
    return [
        f'<rect x="{x}" y="{y - 8}" width="12" height="4" fill="{colour}"/>',
        f'<text class="soft" x="{x + 18}" y="{y}">{escape(_short(name, 30) + more)}</text>',
    ]


def bounds(low: float, high: float, unit: str = "short") -> tuple[float, float]:
    """Round numbers around the values; from zero where that costs less than half of the height."""
    if low >= 0 and (low <= high / 2 or low == high):
        low = 0.0
    size = 1.0
    if unit in {"bytes", "Bps"}:
        size = 1_024.0 ** max(0, int(math.log(max(abs(high), 1.0), 1_024)))
    spread = (high - low) / size or 1.0
    step = 10 ** math.floor(math.log10(spread / LINES))
    step = next(step * each for each in (1, 2, 2.5, 5, 10) if step * each * LINES >= spread)
    begin = math.floor(low / size / step) * step
    while begin + LINES * step < high / size:
        step *= 2
        begin = math.floor(low / size / step) * step
    return begin * size, (begin + LINES * step) * size


def value(number: float, unit: str) -> str:
    """A value with its unit, as Grafana would write it."""
    if unit == "percentunit":
        return f"{100 * number:.3g} %"
    if unit == "s":
        for size, word in ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s")):
            if abs(number) >= size or size == 1e-6:
                return f"{number / size:.3g} {word}" if number else "0"
    base, words = (1_024, BINARY) if unit in {"bytes", "Bps"} else (1_000, THOUSANDS)
    place = 0
    while abs(number) >= 1_000 and place < len(words) - 1 and (unit != "short" or abs(number) >= 1_000_000 or place):
        number, place = number / base, place + 1
    ends = {"bytes": "B", "Bps": "B/s", **RATES}.get(unit, "")
    text = f"{number:.0f}" if abs(number) >= 1_000 else f"{number:.3g}"
    return f"{text} {words[place]}{ends}".rstrip()
