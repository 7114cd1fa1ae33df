"""`ledgerd history extend`: records what happened before the history of a node begins, also while the node runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.progress import progress
from ledgerd.cli.terminal import LOWEST_PRIORITY, require_room
from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.history.past.handing_over import FORMER_SUFFIX
from ledgerd.history.past.recording import PastHistory
from ledgerd.node.config.network import network_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.disk import Space
from ledgerd.supervision.niceness import give_way


def extend(chosen: argparse.Namespace) -> int:
    configuration = configuration_of(chosen)
    options = configuration.chain
    if not any((chosen.data_dir / name).exists() for name in (HISTORY_FOLDER, HISTORY_FOLDER + FORMER_SUFFIX)):
        raise OperatorError(
            f"there is no history in {chosen.data_dir}: run the node with plugin = operation_history first"
        )
    with ExitStack() as opened:
        log = opened.enter_context(_log_of(chosen.data_dir / STATE_FOLDER, options.block_archive_dir))
        settings = configuration.history.of_log(is_rolling=bool(log.kind.header))
        past = PastHistory(chosen.data_dir, network_of(configuration), settings, log, Space())
        opened.callback(past.close)
        if past.is_whole:
            past.clear()
            sys.stdout.write("the history begins with block 1 already\n")
            return 0
        needed = past.needs(options.block_archive_dir, options.shared_file_dir)
        require_room(needed, chosen.data_dir, "needed for a while")
        give_way(LOWEST_PRIORITY)
        with progress("recording", past.head) as advance:
            is_accepted = past.run(advance)
    if is_accepted:
        sys.stdout.write("the node has the history from block 1 on\n")
    else:
        sys.stdout.write(
            "the history from block 1 on is ready: the node takes it when it starts; run this again afterwards, "
            "to delete what is not needed any more\n"
        )
    return 0


@contextmanager
def _log_of(logs: Path, archive: Path) -> Iterator[BlockLogReader]:
    whole, rolling, past = BlockLogReader.open(logs), RollingBlockLogReader.open(logs), ArchivedBlocks(archive)
    rolling.earlier = past
    try:
        yield whole if whole.head_number else rolling
    finally:
        for each in (whole, rolling, past):
            each.close()
