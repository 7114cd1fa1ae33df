"""The configuration of a command that is given a data directory, without its chain."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledgerd.cli.shared.started import Start
from ledgerd.node.config.configuration import Configuration, read_configuration


def configuration_of(chosen: argparse.Namespace, start: Start | None = None) -> Configuration:
    """The configuration that the node would have; what was chosen here counts before how it was started."""
    given = (start.options if start else {}) | given_in(chosen)
    folder, environment = (start.folder, start.environment) if start else (Path.cwd(), {})
    return read_configuration(given, folder, environment)


def given_in(chosen: argparse.Namespace) -> dict[str, list[str]]:
    given = {"data-dir": [str(chosen.data_dir.absolute())]}
    if chosen.config_file is not None:
        given["config-file"] = [str(chosen.config_file.absolute())]
    if chosen.chain is not None:
        file = Path(chosen.chain)
        given["chain"] = [str(file.absolute()) if file.is_file() else chosen.chain]
    return given
