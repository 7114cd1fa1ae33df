"""What commands on a data directory share: its arguments, and opening the chain in it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StorageError

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain

STATE_FOLDER = "state"


def add_data_directory(arguments: argparse.ArgumentParser) -> None:
    """The directory, and the network that it belongs to."""
    arguments.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the data directory")
    arguments.add_argument(
        "--chain",
        default="mainnet",
        metavar="mainnet|testnet|FILE",
        help="the network: one that everybody knows, or the TOML file of a private one (default: mainnet)",
    )


@contextmanager
def opened_chain(chosen: argparse.Namespace, *, must_exist: bool) -> Iterator[Chain]:
    """The chain of the directory; what is wrong with its files is the operator's to read."""
    from ledgerd.chain.chain import Chain  # noqa: PLC0415 - the chain is not loaded for `--help`
    from ledgerd.protocol.chain_file import parameters_of  # noqa: PLC0415

    if must_exist and not (chosen.data_dir / STATE_FOLDER).is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: make one with `ledgerd replay`")
    try:
        with Chain.open(
            chosen.data_dir, parameters_of(chosen.chain), clock=time.monotonic, genesis_time=int(time.time())
        ) as chain:
            yield chain
    except StorageError as problem:
        raise OperatorError(str(problem)) from problem
