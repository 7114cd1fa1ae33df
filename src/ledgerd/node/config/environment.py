"""Environment variables that set options in a container, below the command line (spec 06, section 19, R2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ledgerd.node.config.given import Given

SEEDS = "NODE_SEED_NODES"
WITNESS = "NODE_WITNESS"
PRIVATE_KEY = "NODE_PRIVATE_KEY"

SEED_OPTIONS = ("p2p-seed-node", "seed-node")
PLUGIN = "validator"
"""The plugin that makes blocks; no other plugin depends on it."""

_BETWEEN_WORDS = re.compile(r"[\s,]+")


def add_environment(environment: Mapping[str, str], options: dict[str, list[Given]], remarks: list[str]) -> None:
    """Add the values of the variables to the given ones; seeds replace those of the file."""
    seeds = _words(environment.get(SEEDS, ""))
    if seeds:
        for name in SEED_OPTIONS:
            options[name] = [given for given in options.get(name, ()) if given.file is None]
        options[SEED_OPTIONS[0]] += [Given(each, None, variable=SEEDS) for each in seeds]
    makes_blocks = any(PLUGIN in _words(given.text) for given in options.get("plugin", ()))
    for variable, option in ((WITNESS, "validator"), (PRIVATE_KEY, "private-key")):
        text = environment.get(variable, "").strip()
        if text and makes_blocks:
            options.setdefault(option, []).append(Given(text, None, variable=variable))
        elif text:
            remarks.append(f"environment: {variable} is not used: the plugin {PLUGIN} is not among those that run")


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(text) if word]
