"""What the variables of a container say, as if it had been given for options (spec 06, section 19, R2.4).

They stand between the command line and the file, and are read only where `--environment` asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ledgerd.node.config.given import Given

SEEDS = "NODE_SEED_NODES"
WITNESS = "NODE_WITNESS"
PRIVATE_KEY = "NODE_PRIVATE_KEY"

SEED_OPTIONS = ("p2p-seed-node", "seed-node")
PLUGIN = "validator"
"""The plugin that makes blocks; no other brings it with it."""

_BETWEEN_WORDS = re.compile(r"[\s,]+")


def add_environment(environment: Mapping[str, str], options: dict[str, list[Given]], remarks: list[str]) -> None:
    """Add what the variables say to what was given; seeds take the place of those of the file."""
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
