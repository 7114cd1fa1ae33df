"""Writes `docs/metrics.md` from the table of metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ledgerd.metrics.families import Family, MetricLabel, Writer
from ledgerd.metrics.layout import VALIDATOR_PLACES
from ledgerd.metrics.table import TOPICS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "metrics.md"

HEAD = f"""# Metrics

For operators: look up what a metric counts, its labels and its unit.

Written by `make docs` from the table in `src/ledgerd/metrics/table/`; a test fails when it is out of date.

With `metrics-endpoint` in its configuration, a node answers `GET /metrics` there: in the format of OpenMetrics 1.0.0
where the client's `Accept` prefers that, and else in Prometheus' text format 0.0.4. Values are added up over all API
workers, and do not go back when a worker is started again; they begin at zero when the node does. A value that there is
not, such as the heights of peers without any peer, is left out.

No label names a peer, a client or an account: each has a fixed set of values, and of validators at most
{VALIDATOR_PLACES - 1} at a time. Alerts and dashboards over these metrics: [runbook.md](runbook.md).
"""

PROCESS = MetricLabel("process", about="`main`, `metrics` for the process that answers scrapes, and `api-0` and on")


def cell(text: str) -> str:
    """A text that a table can hold."""
    return text.replace("|", "\\|")


def labels_of(family: Family) -> list[MetricLabel]:
    """The labels of a family, with that of what each process writes."""
    return [PROCESS, *family.labels] if family.writer is Writer.EACH else list(family.labels)


def rows(families: tuple[Family, ...]) -> Iterator[str]:
    """The table of one topic."""
    yield "| name | kind | unit | labels | meaning |"
    yield "|---|---|---|---|---|"
    for family in families:
        labels = ", ".join(f"`{label.name}`" for label in labels_of(family))
        yield f"| `{family.name}` | {family.kind.value} | {family.unit} | {labels} | {cell(family.help)} |"


def label_rows() -> Iterator[str]:
    """The values of every label."""
    yield "| label | of | values |"
    yield "|---|---|---|"
    found: dict[MetricLabel, list[Family]] = {}
    for families in TOPICS.values():
        for family in families:
            for label in labels_of(family):
                found.setdefault(label, []).append(family)
    for label, having in sorted(found.items(), key=lambda item: item[0].name):
        values = label.about or ", ".join(f"`{value}`" for value in label.values)
        names = "all families that have it" if label is PROCESS else ", ".join(f"`{each.name}`" for each in having)
        yield f"| `{label.name}` | {names} | {cell(values)} |"


def document() -> str:
    """The whole document."""
    parts = [HEAD]
    for topic, families in TOPICS.items():
        parts += [f"## {topic}", "", *rows(families), ""]
    parts += ["## Values of labels", "", *label_rows(), "", "## Bounds of histograms", ""]
    parts += ["| name | upper bounds |", "|---|---|"]
    for families in TOPICS.values():
        for family in families:
            if family.buckets:
                parts.append(f"| `{family.name}` | {', '.join(f'{bound:g}' for bound in family.buckets)} |")
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write the document."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
