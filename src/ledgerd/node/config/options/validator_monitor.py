"""The option of the validator monitor, which runs on any node (`node.parts.validators.monitor`)."""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings, WrongTogether
from ledgerd.node.config.values.json_values import NAME
from ledgerd.protocol.names import AccountName

MOST_WATCHED = 64
"""Each has series of its own in metrics."""


class MonitorSettings(msgspec.Struct, frozen=True):
    """Whose slots are followed."""

    names: tuple[AccountName, ...] = ()


def _complete(record: MonitorSettings, _surroundings: Surroundings) -> MonitorSettings:
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
    complete=_complete,
)
