"""Shared code of the commands on a data directory: arguments, and opening the chain as the node does."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.config.configuration import Configuration


def add_data_directory(arguments: argparse.ArgumentParser) -> None:
    """The directory, its configuration, and the network that it belongs to."""
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


def configuration_of(chosen: argparse.Namespace) -> Configuration:
    """The configuration that the node would have."""
    from ledgerd.node.config.configuration import read_configuration  # noqa: PLC0415 - not loaded for `--help`

    given = {
        "data-dir": [str(chosen.data_dir)],
        "config-file": [] if chosen.config_file is None else [str(chosen.config_file)],
        "chain": [] if chosen.chain is None else [chosen.chain],
    }
    return read_configuration({name: texts for name, texts in given.items() if texts}, Path.cwd())


@contextmanager
def opened_chain(chosen: argparse.Namespace, *, must_exist: bool) -> Iterator[Chain]:
    """The chain of the directory, opened."""
    from ledgerd.chain.chain import Chain  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.node.config.network import network_of  # noqa: PLC0415
    from ledgerd.node.datadir.followers import follow_for_plugins  # noqa: PLC0415
    from ledgerd.node.datadir.opening import space_of  # noqa: PLC0415

    configuration = configuration_of(chosen)
    options = configuration.chain
    if must_exist and not options.shared_file_dir.is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: make one with `ledgerd replay`")
    with Chain.open(
        chosen.data_dir,
        network_of(configuration),
        clock=time.monotonic,
        genesis_time=int(time.time()),
        checkpoints=dict(options.checkpoints),
        rolling_blocks=options.dlt_block_log_max_blocks,
        space=space_of(configuration),
    ) as chain:
        follow_for_plugins(chain, configuration)
        yield chain
