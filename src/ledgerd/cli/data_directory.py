"""Shared code of the commands on a data directory: arguments, and opening the chain as the node does."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.cli.started import Start
    from ledgerd.node.config.configuration import Configuration


def add_command(
    commands: argparse._SubParsersAction[Any],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
) -> argparse.ArgumentParser:
    """Declare a command on a data directory; further arguments can be added to what is returned."""
    arguments: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=description)
    add_data_directory(arguments)
    arguments.set_defaults(run=run)
    return arguments


def add_data_directory(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the data directory")
    arguments.add_argument(
        "--config-file",
        type=Path,
        metavar="PATH",
        help="the configuration that the node runs with, for its network, sizes and checkpoints "
        "(default: config.ini in the data directory, if there is one)",
    )
    arguments.add_argument(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help="the network: mainnet, testnet, or the TOML file of a private one (default: as configured)",
    )


def configuration_of(chosen: argparse.Namespace, start: Start | None = None) -> Configuration:
    """The configuration that the node would have; what was chosen here counts before how it was started."""
    from ledgerd.node.config.configuration import read_configuration  # noqa: PLC0415 - not loaded for `--help`

    given = {
        **(start.options if start else {}),
        "data-dir": [str(chosen.data_dir.absolute())],
    }
    if chosen.config_file is not None:
        given["config-file"] = [str(chosen.config_file.absolute())]
    if chosen.chain is not None:
        file = Path(chosen.chain)
        given["chain"] = [str(file.absolute()) if file.is_file() else chosen.chain]
    folder, environment = (start.folder, start.environment) if start else (Path.cwd(), {})
    return read_configuration(given, folder, environment)


@contextmanager
def opened_chain(chosen: argparse.Namespace, *, must_exist: bool, needs_log: bool = True) -> Iterator[Chain]:
    """The chain of the directory, opened; with `needs_log` off, also where its block log does not fit the state."""
    from ledgerd.chain.chain import Chain  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.chain.log.opening import LogUnfit  # noqa: PLC0415
    from ledgerd.node.config.network import network_of  # noqa: PLC0415
    from ledgerd.node.datadir.opening import space_of  # noqa: PLC0415
    from ledgerd.node.datadir.projections import project_for_plugins  # noqa: PLC0415

    configuration = configuration_of(chosen)
    options = configuration.chain
    if must_exist and not options.shared_file_dir.is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: make one with `ledgerd replay`")
    network, space = network_of(configuration), space_of(configuration)
    try:
        chain = Chain.open(
            chosen.data_dir,
            network,
            clock=time.monotonic,
            genesis_time=int(time.time()),
            checkpoints=dict(options.checkpoints),
            rolling_blocks=options.dlt_block_log_max_blocks,
            space=space,
        )
    except LogUnfit as problem:
        if needs_log:
            raise
        sys.stderr.write(f"{problem}\n")
        chain = Chain.open_without_log(chosen.data_dir, network, clock=time.monotonic, space=space)
    with chain:
        project_for_plugins(chain, configuration)
        yield chain
