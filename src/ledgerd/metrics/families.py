"""The declaration of a metric family: its name, kind, help, labels and unit."""

from __future__ import annotations

import re
from enum import Enum

import msgspec

NAME = re.compile(r"ledgerd(_[a-z0-9]+)+")


class FamilyKind(Enum):
    """The meaning of the values of a family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Writer(Enum):
    """Which processes write a family."""

    MAIN = "main"
    WORKERS = "workers"
    """Every API worker; their values are added up."""
    EACH = "each"
    """Every process for itself: the label `process`, which comes first, says which."""
    READER = "reader"


class LabelSource(Enum):
    """Where the values of a label come from."""

    DECLARED = "declared"
    METHODS = "methods"
    """The methods of JSON-RPC that this program knows, and `other`."""
    VERSION = "version"
    VALIDATORS = "validators"
    PLUGINS = "plugins"
    """The plugins of others that are enabled, of which there are a few."""


class MetricLabel(msgspec.Struct, frozen=True):
    """A label, and its possible values: a peer or a client must not be able to add one."""

    name: str
    values: tuple[str, ...] = ()
    source: LabelSource = LabelSource.DECLARED
    about: str = ""
    """A description of the values, if they are not declared."""


class Family(msgspec.Struct, frozen=True):
    """Metrics of one name."""

    name: str
    kind: FamilyKind
    help: str
    labels: tuple[MetricLabel, ...] = ()
    unit: str = ""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets; one without a bound follows."""
    writer: Writer = Writer.MAIN
    is_sparse: bool = False
    """Whether series are left out whose first label has counted nothing yet: of some labels there are very many."""

    def __post_init__(self) -> None:
        ending = {FamilyKind.COUNTER: "_total"}.get(self.kind, "")
        if NAME.fullmatch(self.name) is None or not self.name.endswith(
            f"_{self.unit}{ending}" if self.unit else ending
        ):
            raise TypeError(f"{self.name}: a name has its unit at the end, and _total where it is a counter")
        if (self.kind is FamilyKind.HISTOGRAM) != bool(self.buckets) or list(self.buckets) != sorted(set(self.buckets)):
            raise TypeError(f"{self.name}: a histogram has growing bounds, and nothing else has")

    @property
    def width(self) -> int:
        """How many numbers a series has: a histogram has a count for each bucket and for larger values, and the sum."""
        return len(self.buckets) + 2 if self.buckets else 1

    @property
    def label_names(self) -> tuple[str, ...]:
        names = tuple(label.name for label in self.labels)
        return ("process", *names) if self.writer is Writer.EACH else names


def counter(name: str, help_text: str, *labels: MetricLabel, **more: object) -> Family:
    return msgspec.structs.replace(Family(name, FamilyKind.COUNTER, help_text, labels, _unit(name)), **more)


def gauge(name: str, help_text: str, *labels: MetricLabel, **more: object) -> Family:
    return msgspec.structs.replace(Family(name, FamilyKind.GAUGE, help_text, labels, _unit(name)), **more)


def histogram(name: str, help_text: str, buckets: tuple[float, ...], *labels: MetricLabel, **more: object) -> Family:
    family = Family(name, FamilyKind.HISTOGRAM, help_text, labels, _unit(name), buckets)
    return msgspec.structs.replace(family, **more)


def _unit(name: str) -> str:
    ending = name.removesuffix("_total").rpartition("_")[2]
    return ending if ending in {"seconds", "bytes", "ratio", "blocks", "shares"} else ""
