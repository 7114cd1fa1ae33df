"""`ledgerd state --at N`: makes the whole state at a block of the past, also while the node runs."""

from __future__ import annotations

import argparse
import logging
import sys

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.progress import progress
from ledgerd.cli.terminal import LOWEST_PRIORITY, require_room, say
from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.directory_blocks import directory_blocks
from ledgerd.node.datadir.past_state import PastState
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot import import_progress
from ledgerd.supervision.loading import search_rarely
from ledgerd.supervision.niceness import give_way


def make_past_state(chosen: argparse.Namespace) -> int:
    search_rarely()
    configuration = configuration_of(chosen)
    options, target = configuration.chain, chosen.to.absolute()
    if not chosen.data_dir.is_dir():
        raise OperatorError(f"there is no data directory {chosen.data_dir}")
    logs, archive = chosen.data_dir / STATE_FOLDER, options.block_archive_dir
    with directory_blocks(options.shared_file_dir, logs, archive) as blocks:
        past = PastState(configuration, network_of(configuration), blocks, chosen.at, target)
        if not target.parent.is_dir():
            raise OperatorError(f"there is no folder {target.parent}")
        require_room(past.needs(), target.parent, "needed")
        give_way(LOWEST_PRIORITY)
        with set_up_for_person(logging.getLogger(import_progress.__name__)):
            begun = past.begin(chosen.snapshot, with_genesis=chosen.from_genesis)
        say(f"begins with the state of block {begun}" if begun else "begins with the genesis")
        with progress("replaying", chosen.at, done=begun) as advance:
            made = past.replay(advance)
    sys.stdout.write(f"the state at block {chosen.at} {made.block_id} is in {chosen.to}\n")
    if made.is_trusted_head:
        sys.stdout.write(
            f"its last irreversible block is {made.irreversible}, that of the snapshot, as in any node that began with "
            "it: the blocks since have made no later one irreversible\n"
        )
    return 0
