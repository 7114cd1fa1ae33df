"""The text of an answer to `GET /metrics`. `prometheus_client` writes the lines of each series once; later scrapes
put new numbers behind the same words: ten thousand lines at a tenth of the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from ledgerd.metrics.families import Family, FamilyKind
from ledgerd.metrics.reading import Labels, ReadFamily

OPENMETRICS_TYPE = "application/openmetrics-text"
PLAIN_TYPE = "text/plain"
LAST_LINE = "# EOF\n"

MOST_KNOWN = 50_000
"""Series whose words are kept; validators come and go, so that there can be ever more of them."""


class OneMetric(Collector):
    """A registry of one family."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        return (self._metric,)


class TextFormat(NamedTuple):
    """A format of the text."""

    content_type: str
    lines_of: Callable[[Collector], bytes]
    end: str


PLAIN = TextFormat(CONTENT_TYPE_PLAIN_0_0_4, generate_latest, "")
OPENMETRICS = TextFormat(openmetrics.CONTENT_TYPE_LATEST, openmetrics.generate_latest, LAST_LINE)


def format_for(accept: bytes) -> TextFormat:
    """The format that a client prefers, by its `Accept`; Prometheus' own one where it says nothing."""
    best: dict[str, float] = {}
    for each in accept.decode("latin-1").lower().split(","):
        kind, _, parameters = each.partition(";")
        weight = 1.0
        for parameter in parameters.split(";"):
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                weight = _weight(value.strip())
        best[kind.strip()] = max(best.get(kind.strip(), 0.0), weight)
    plain = max(best.get(PLAIN_TYPE, 0.0), best.get("text/*", 0.0), best.get("*/*", 0.0))
    opened = best.get(OPENMETRICS_TYPE, 0.0)
    return OPENMETRICS if opened > 0.0 and opened >= plain else PLAIN


def _weight(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


class Exposition:
    """Writes series in one format."""

    def __init__(self, text_format: TextFormat) -> None:
        self._format = text_format
        self._headings: dict[str, str] = {}
        self._words: dict[tuple[str, Labels], list[str]] = {}

    def text(self, families: Iterable[ReadFamily]) -> bytes:
        if len(self._words) > MOST_KNOWN:
            self._words.clear()
        return "".join((*self._parts(families), self._format.end)).encode()

    def _parts(self, families: Iterable[ReadFamily]) -> Iterator[str]:
        words = self._words
        for family, series in families:
            yield self._heading(family)
            name, is_histogram = family.name, family.kind is FamilyKind.HISTOGRAM
            for labels, numbers in series:
                known = words.get((name, labels)) or self._learn(family, labels)
                if not is_histogram:
                    yield f"{known[0]} {numbers[0]!r}\n"
                    continue
                counts = [*accumulate(numbers[:-1])]
                for word, number in zip(known, (*counts, counts[-1], numbers[-1]), strict=True):
                    yield f"{word} {number!r}\n"

    def _heading(self, family: Family) -> str:
        if family.name not in self._headings:
            lines = self._lines(_metric(family))
            self._headings[family.name] = "".join(f"{line}\n" for line in lines if line.startswith("#"))
        return self._headings[family.name]

    def _learn(self, family: Family, labels: Labels) -> list[str]:
        metric, named = _metric(family), dict(zip(family.label_names, labels, strict=True))
        if family.kind is FamilyKind.HISTOGRAM:
            for bound in (*family.buckets, float("inf")):
                metric.add_sample(f"{family.name}_bucket", {**named, "le": text_of(bound)}, 0.0)
            metric.add_sample(f"{family.name}_count", named, 0.0)
            metric.add_sample(f"{family.name}_sum", named, 0.0)
        else:
            metric.add_sample(family.name, named, 0.0)
        lines = [line.rpartition(" ")[0] for line in self._lines(metric) if not line.startswith("#")]
        self._words[family.name, labels] = lines
        return lines

    def _lines(self, metric: Metric) -> list[str]:
        text = self._format.lines_of(OneMetric(metric)).decode()
        return text.removesuffix(self._format.end).removesuffix("\n").split("\n")


text_of: Callable[[float], str] = floatToGoString


def _metric(family: Family) -> Metric:
    return Metric(family.name.removesuffix("_total"), family.help, family.kind.value, family.unit)
