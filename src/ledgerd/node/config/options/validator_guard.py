"""The options of the plugin validator_guard, which keeps a validator from missing blocks (spec 06, section 5.6)."""

from __future__ import annotations

from typing import Any

from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings
from ledgerd.node.config.values.json_values import GUARDED, GuardedValidator
from ledgerd.node.config.values.values import BOOL, UINT32, uint32
from ledgerd.producer.settings import GuardSettings, Watched


def _join(values: dict[str, Any], _surroundings: Surroundings) -> None:
    guarded: tuple[GuardedValidator, ...] = values["watched"]
    values["watched"] = {each.name: Watched(each.signing_key, each.active_key) for each in guarded}


def _never_took_effect(name: str) -> str:
    return f"in the reference it never took effect either; {name} does"


VALIDATOR_GUARD = OptionSection(
    "validator_guard",
    "Watches validators: restores a removed signing key, and switches off a validator that is alone in making blocks.",
    GuardSettings,
    (
        Option("validator-guard-enabled", BOOL, "Run the guard.", default="true"),
        Option(
            "validator-guard-validator",
            GUARDED,
            "A validator to watch, with its private signing key and the private active key that updates it.",
            repeatable=True,
            older_names=("witness-guard-witness",),
            field="watched",
        ),
        Option("validator-guard-interval", uint32(raised_to=1), "Blocks between two checks.", default="20"),
        Option(
            "validator-guard-disable",
            UINT32,
            "Consecutive blocks of one watched validator after which it is switched off; 0 for never.",
            default="5",
        ),
        Option(
            "validator-guard-disable-on-shutdown",
            BOOL,
            "Switch the validators off before the node stops.",
            default="true",
        ),
        Option(
            "validator-guard-shutdown-grace",
            UINT32,
            "Seconds that a stop waits until the validators are switched off.",
            default="10",
        ),
        Option(
            "validator-guard-disable-max",
            UINT32,
            "How many times a validator is switched off and on again before it stays off; 0 for any number.",
            default="3",
        ),
    ),
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
    prefixes=("validator-guard-",),
    join=_join,
)
