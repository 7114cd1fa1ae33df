"""The history of a market as lines: the share of each outcome in what is bet, over time. Numbers in, points out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 720, 220
LEFT, BOTTOM = 40, 22
TOP = 8


class OutcomeLine(NamedTuple):
    """The line of an outcome."""

    points: str
    end: float
    last: int
    """The share that it ends with, in hundredths of a percent."""


class Picture(NamedTuple):
    """Lines in a frame, in the units of the drawing."""

    width: int
    height: int
    lines: tuple[OutcomeLine, ...]
    first: int
    last: int
    """Times of its ends, in seconds."""
    marks: tuple[tuple[float, int], ...]
    left: int = LEFT


def picture_of(points: Sequence[tuple[int, Sequence[int | str]]], count: int) -> Picture:
    first, last = points[0][0], points[-1][0]
    span = max(1, last - first)

    def across(at: int) -> float:
        return round(LEFT + (at - first) * (WIDTH - LEFT - 4) / span, 1)

    def up(part: float) -> float:
        return round(TOP + (1 - part) * (HEIGHT - BOTTOM - TOP), 1)

    lines = []
    for outcome in range(count):
        corners: list[str] = []
        height, part = up(0), 0.0
        for at, stakes in points:
            total = sum(map(int, stakes))
            if not total or outcome >= len(stakes):
                continue
            part = int(stakes[outcome]) / total
            if corners:
                corners.append(f"{across(at)},{height}")  # steps: between two bets nothing changes
            height = up(part)
            corners.append(f"{across(at)},{height}")
        lines.append(OutcomeLine(" ".join(corners), height, round(part * 10_000)))
    marks = tuple((up(each / 100), each) for each in (0, 25, 50, 75, 100))
    return Picture(WIDTH, HEIGHT, tuple(lines), first, last, marks)
