"""The options of what watches a node and validators: metrics, and the validator monitor, which runs on any node."""

from __future__ import annotations

import msgspec

from ledgerd.metrics.settings import MetricsSettings
from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings, WrongTogether
from ledgerd.node.config.values.endpoints import ENDPOINT
from ledgerd.node.config.values.json_values import NAME
from ledgerd.protocol.names import AccountName

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

MOST_WATCHED = 64
"""Each has series of its own in metrics."""


class MonitorSettings(msgspec.Struct, frozen=True):
    """Whose slots are followed."""

    names: tuple[AccountName, ...] = ()


def _complete_monitor(record: MonitorSettings, _surroundings: Surroundings) -> MonitorSettings:
    names = tuple(dict.fromkeys(record.names))
    if len(names) > MOST_WATCHED:
        raise WrongTogether("validator-monitor", f"{len(names)} validators are named, and {MOST_WATCHED} are the most")
    return MonitorSettings(names)


VALIDATOR_MONITOR = OptionSection(
    "validator_monitor",
    "Watches the slots of validators, on any node.",
    MonitorSettings,
    (
        Option(
            "validator-monitor",
            NAME,
            "The name of a validator whose slots are told in the log: made and how late, or missed and why.",
            repeatable=True,
            ours=True,
            field="names",
        ),
    ),
    complete=_complete_monitor,
)
