"""Makes what is kept of markets beside the ledger again: the chain is replayed, and its new state takes the old one's
place.

The new state stands in a folder of its own until it is complete; an interrupted rebuild is continued.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerd.chain.chain import STATE_FOLDER, Chain
from ledgerd.chain.offline.replay import reapply
from ledgerd.history.rebuild import ChainSource
from ledgerd.node.datadir.projections import project_for_plugins
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.disk import DATA_FILE
from ledgerd.state.objects.market_records import PM_RECORDS_SINCE

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.node.datadir.state_files import StateFiles

REBUILD_FOLDER = "rebuild-markets"


def replay_beside(
    chain: Chain, data_dir: Path, configuration: Configuration, progress: Callable[[int], None] = lambda _height: None
) -> int:
    """Replay all blocks of a chain into a state of its own, with all that the plugins keep; returns how many.

    Raises:
        OperatorError: The block log does not begin with the first block.
    """
    if chain.head_number and chain.block_at(1) is None:
        since = chain.state.find(PM_RECORDS_SINCE, 0)
        kept = "none are kept yet" if since is None else f"those that are kept are complete from block {since.block} on"
        raise OperatorError(
            "metadata and price points of markets cannot be made from the first block on: this chain began with a "
            f"snapshot, and its block log has no older blocks; {kept}"
        )
    folder = data_dir / REBUILD_FOLDER
    with Chain.open(folder, chain.network, clock=time.monotonic) as replayed:
        project_for_plugins(replayed, configuration)
        while replayed.head_number and not chain.is_on_trunk(replayed.head_id):
            replayed.pop_block()  # the node has run since, and has switched to another branch
        progress(replayed.head_number)
        count = reapply(replayed, ChainSource(chain), progress)
        if replayed.head_id != chain.head_id:
            raise OperatorError(f"the blocks lead to another block {replayed.head_number} than the head of this chain")
    return count


def put_in_place(data_dir: Path, files: StateFiles) -> None:
    """Replace the state, which nobody has open, by the replayed one."""
    folder = data_dir / REBUILD_FOLDER
    (folder / STATE_FOLDER / DATA_FILE).replace(files.fresh_folder() / DATA_FILE)
    files.put_in_place()
    shutil.rmtree(folder)
