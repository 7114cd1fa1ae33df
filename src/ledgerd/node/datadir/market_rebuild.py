"""Makes the projections of a state again: the chain is replayed, and what was kept of it takes the place of what is
there.

The replay stands in a folder of its own until it is complete; an interrupted rebuild is continued.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.offline.replay import reapply
from ledgerd.history.embedded.rebuild import ChainSource
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.datadir.projections import project_for_plugins
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.projections.following import projections_of
from ledgerd.projections.kept import PROJECTIONS, KeptProjections, replace_projections
from ledgerd.projections.tables.market_records import PM_RECORDS_SINCE
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.store import Store

REBUILD_FOLDER = "rebuild-markets"


def replay_beside(
    chain: Chain, data_dir: Path, configuration: Configuration, progress: Callable[[int], None] = lambda _height: None
) -> int:
    """Into a state of its own, with all that plugins keep; how many. `OperatorError`: the log lacks the first block."""
    if chain.head_number and chain.block_at(1) is None:
        kept = projections_of(chain)
        since = None if kept is None else kept.find(PM_RECORDS_SINCE, 0)
        state = (
            "none are kept yet" if since is None else f"those that are kept are complete from block {since.block} on"
        )
        raise OperatorError(
            "metadata and price points of markets cannot be made from the first block on: this chain began with a "
            f"snapshot, and its block log has no older blocks; {state}"
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
    """Replace the projections of a state, which nobody has open, by those of the replay."""
    replayed = data_dir / REBUILD_FOLDER / STATE_FOLDER
    with KeptProjections(replayed) as kept, Store.open(files.folder, STORED_TABLES, space=files.space) as state:
        state.set_meta(PROJECTIONS, kept.position)
        state.commit()
    replace_projections(files.folder, replayed)
    shutil.rmtree(data_dir / REBUILD_FOLDER)
