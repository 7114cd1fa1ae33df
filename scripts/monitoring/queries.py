"""Queries in PromQL. `$node` stands for the chosen nodes, and the window for the time of a rate."""

from __future__ import annotations

from typing import NamedTuple

NODE = 'instance=~"$node"'
WINDOW = "$__rate_interval"


class Query(NamedTuple):
    """A query in PromQL, and the name of its lines."""

    expression: str
    legend: str = "{{instance}}"


def now(family: str, legend: str = "{{instance}}", matching: str = "") -> Query:
    """The values of now."""
    return Query(f"{family}{{{NODE}{matching}}}", legend)


def rate(family: str, legend: str = "{{instance}}", by: str = "instance", matching: str = "") -> Query:
    """How much a counter grows a second."""
    return Query(f"sum by ({by}) (rate({family}{{{NODE}{matching}}}[{WINDOW}]))", legend)


def quantile(share: float, family: str, by: str = "instance", legend: str = "", matching: str = "") -> Query:
    """A quantile of a histogram."""
    buckets = f"sum by (le, {by}) (rate({family}_bucket{{{NODE}{matching}}}[{WINDOW}]))"
    return Query(f"histogram_quantile({share}, {buckets})", legend or f"{{{{instance}}}} p{share * 100:g}")


def both(family: str, matching: str = "") -> tuple[Query, ...]:
    """The middle and the 99th percent of a histogram."""
    return quantile(0.5, family, matching=matching), quantile(0.99, family, matching=matching)
