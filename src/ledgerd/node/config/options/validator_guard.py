"""The options of the plugin validator_guard, which keeps a validator from missing blocks (spec 06, section 5.6)."""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, Section
from ledgerd.node.config.values.json_values import GUARDED, GuardedValidator
from ledgerd.node.config.values.values import BOOL, UINT32, uint32


class ValidatorGuardOptions(msgspec.Struct, frozen=True):
    """Which validators are watched over, and when they are switched off and on."""

    enabled: bool
    validators: tuple[GuardedValidator, ...]
    interval: int
    disable: int
    disable_on_shutdown: bool
    shutdown_grace: int
    disable_max: int


def _never_took_effect(name: str) -> str:
    return f"in the reference it never took effect either; {name} does"


VALIDATOR_GUARD = Section(
    "validator_guard",
    "Watches over validators: gives back a signing key that was taken away, and switches off one that makes blocks "
    "alone.",
    ValidatorGuardOptions,
    {
        "enabled": Option("validator-guard-enabled", BOOL, "Watch at all.", default="true"),
        "validators": Option(
            "validator-guard-validator",
            GUARDED,
            "A validator to watch over, with the private keys to sign blocks with and to update it with.",
            repeatable=True,
            older_names=("witness-guard-witness",),
        ),
        "interval": Option("validator-guard-interval", uint32(raised_to=1), "Blocks between two checks.", default="20"),
        "disable": Option(
            "validator-guard-disable",
            UINT32,
            "Blocks in a row, all of one watched validator, after which it is switched off; 0 for never.",
            default="5",
        ),
        "disable_on_shutdown": Option(
            "validator-guard-disable-on-shutdown",
            BOOL,
            "Switch the validators off before the node stops.",
            default="true",
        ),
        "shutdown_grace": Option(
            "validator-guard-shutdown-grace", UINT32, "Seconds that the stop waits for that.", default="10"
        ),
        "disable_max": Option(
            "validator-guard-disable-max",
            UINT32,
            "How often a validator is switched off and on again before it stays off; 0 for any number.",
            default="3",
        ),
    },
    without_meaning=(
        Option(
            "witness-guard-enabled",
            BOOL,
            "Older name of validator-guard-enabled.",
            default="true",
            without_meaning=_never_took_effect("validator-guard-enabled"),
        ),
        Option(
            "witness-guard-interval",
            UINT32,
            "Older name of validator-guard-interval.",
            default="20",
            without_meaning=_never_took_effect("validator-guard-interval"),
        ),
        Option(
            "witness-guard-disable",
            UINT32,
            "Older name of validator-guard-disable.",
            default="5",
            without_meaning=_never_took_effect("validator-guard-disable"),
        ),
    ),
)
