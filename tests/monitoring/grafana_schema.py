"""What Grafana publishes of the form of a dashboard, as far as ours use it.

Origin: `kinds/dashboard/dashboard_kind.cue` of the repository grafana/grafana at commit
2c08c51b2b1def7ac81cf5ce460ab06e04176cc8, whose default schema version is 36: names of fields, their types and bounds,
and which may be left out. What data sources and kinds of panels add (targets, options) is open there; here it is what
the data source of Prometheus reads.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A record without other fields than these."""


class SourceRef(Strict):
    type: str
    uid: str


class GridPos(Strict):
    h: Annotated[int, Meta(gt=0)]
    w: Annotated[int, Meta(gt=0, le=24)]
    x: Annotated[int, Meta(ge=0, lt=24)]
    y: Annotated[int, Meta(ge=0)]


class PrometheusTarget(Strict):
    ref_id: Annotated[str, Meta(pattern="^[A-Z]$")]
    datasource: SourceRef
    expr: Annotated[str, Meta(min_length=1)]
    legend_format: str


class FieldConfig(Strict):
    unit: str
    display_name: str = ""
    decimals: float | None = None
    min: float | None = None
    max: float | None = None


class FieldConfigSource(Strict):
    defaults: FieldConfig
    overrides: list[dict[str, Any]]


class SchemaPanel(Strict):
    type: Annotated[str, Meta(min_length=1)]
    id: Annotated[int, Meta(ge=0)]
    title: str
    description: str
    datasource: SourceRef
    grid_pos: GridPos
    targets: list[PrometheusTarget]
    field_config: FieldConfigSource
    options: dict[str, Any]
    transformations: list[dict[str, Any]]
    transparent: bool
    repeat_direction: Literal["h", "v"]


class Variable(msgspec.Struct, rename="camel"):
    """Kinds of variables add fields of their own."""

    name: str
    type: Literal["query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system"]
    hide: Literal[0, 1, 2]
    skip_url_sync: bool
    label: str
    query: str | dict[str, Any]


class Templating(Strict):
    entries: list[Variable] = msgspec.field(name="list")


class Annotations(Strict):
    entries: list[dict[str, Any]] = msgspec.field(name="list")


class TimeRange(Strict):
    from_: str = msgspec.field(name="from")
    to: str = "now"


class SchemaDashboard(Strict):
    uid: Annotated[str, Meta(min_length=8, max_length=40)]
    title: str
    tags: list[str]
    style: Literal["light", "dark"]
    timezone: str
    editable: bool
    graph_tooltip: Literal[0, 1, 2]
    schema_version: Literal[36]
    version: Annotated[int, Meta(ge=0)]
    refresh: str | Literal[False]
    time: TimeRange
    templating: Templating
    annotations: Annotations
    links: list[dict[str, Any]]
    panels: list[SchemaPanel]
