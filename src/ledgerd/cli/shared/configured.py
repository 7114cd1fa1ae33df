"""The configuration of a command that is given a data directory, without its chain."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from ledgerd.cli.shared.started import Start
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.protocol.errors import OperatorError


@contextmanager
def ending_for_good() -> Iterator[None]:
    """What a process was told is read within: a fault of it ends the process with the code of a wrong configuration, as
    it ends a node, after which the units in `share/ledgerd/systemd/` do not start it again.
    """
    try:
        yield
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        raise SystemExit(WRONG_CONFIGURATION) from None


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
