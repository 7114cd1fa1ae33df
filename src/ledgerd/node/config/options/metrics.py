"""The option of the metrics: where Prometheus reads them."""

from __future__ import annotations

from ledgerd.metrics.settings import MetricsSettings
from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.values.endpoints import ENDPOINT

METRICS = OptionSection(
    "metrics",
    "Numbers on the node for Prometheus; docs/metrics.md lists them.",
    MetricsSettings,
    (
        Option(
            "metrics-endpoint",
            ENDPOINT,
            "The host and port to serve GET /metrics on. Without it, nothing is counted. Whoever reaches it can read "
            "how the node is: keep it on this machine, or within a network of your own.",
            example="127.0.0.1:9190",
            ours=True,
        ),
    ),
    prefixes=("metrics-",),
)
