"""The data directory of a command: its chain, opened as the node does, and its history."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.basics.durable import open_file
from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.opening import LogUnfit
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.terminal import progress
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.opening import space_of
from ledgerd.node.datadir.projections import project_for_plugins
from ledgerd.node.datadir.state_files import naming_damage, refuse_pipes
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.supervision.this_process import search_rarely


def require_directory(data_dir: Path) -> None:
    if not data_dir.is_dir():
        raise OperatorError(f"there is no directory {data_dir}: correct --data-dir, or mount its disk")


def require_state(data_dir: Path, state: Path, how: str = "start the node, or make one with `ledgerd replay`") -> None:
    """Refuse a directory without a state; a mistyped one is told from one in which nothing has been made yet."""
    require_directory(data_dir)
    if not state.is_dir():
        raise OperatorError(f"there is no state in {data_dir}: {how}")
    refuse_pipes(data_dir, state)


def require_log(option: str, file: Path) -> None:
    """Refuse what is no file: a pipe would be waited for, and a device looks like a log without blocks."""
    try:
        open_file(file).close()
    except OSError as problem:
        raise OperatorError(f"{option}: {file} cannot be read: {problem.strerror}") from problem


@contextmanager
def opened_chain(chosen: argparse.Namespace, *, must_exist: bool, needs_log: bool = True) -> Iterator[Chain]:
    """The chain of the directory, opened; with `needs_log` off, also where its block log does not fit the state."""
    configuration = configuration_of(chosen)
    options = configuration.chain
    if must_exist:
        require_state(chosen.data_dir, options.shared_file_dir)
    refuse_pipes(chosen.data_dir, options.shared_file_dir)
    network, space = network_of(configuration), space_of(configuration)
    with naming_damage(options.shared_file_dir):
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


@contextmanager
def opened_history(data_dir: Path, settings: HistorySettings) -> Iterator[EmbeddedHistory | None]:
    """The history of a directory, which a node may be writing, where it has one."""
    folder = data_dir / HISTORY_FOLDER
    if not (folder / DATA_FILE).exists():
        yield None
        return
    with EmbeddedHistory.open(folder, data_dir / STATE_FOLDER, settings) as history:
        yield history


def rebuild_with_progress(
    chosen: argparse.Namespace, rebuild: Callable[[Chain, Callable[[int], None]], int]
) -> tuple[int, int]:
    """Rebuild something from the blocks, with a progress line; returns the number of blocks and the head."""
    search_rarely()
    with opened_chain(chosen, must_exist=True) as chain, progress("rebuilding", chain.head_number) as advance:
        return rebuild(chain, advance), chain.head_number
