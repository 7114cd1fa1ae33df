"""The origin of a node's state, chosen by its options and the contents of its directory.

The order is that of spec 06, section 8.1, with one difference: nothing is deleted that cannot be made again, unless
`--resync-blockchain` asks for it. `opening` carries out the choice.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import NamedTuple

from ledgerd.node.config.options.invocation import Invocation
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.errors import StorageError


class StateOrigin(Enum):
    """The source that the state is made from."""

    PRESENT = "the state that is there, or the genesis"
    SNAPSHOT = "a snapshot, where there is no state"
    REBUILD = "a snapshot in the place of the state, and the blocks after it"
    PEERS = "a snapshot of a trusted peer, where there was no block yet"
    BLOCK_LOG = "the block log, from its first block on"


class Found(NamedTuple):
    """The contents of a data directory, before anything is opened."""

    folder: Path
    has_state: bool
    head: int
    """The head block of the state."""
    log_head: int
    """The last block of the full log."""
    newest: Path | None = None
    """The newest snapshot of the snapshots' directory."""
    usable: Path | None = None
    """The newest one from which a damaged state can be rebuilt without a gap to the log."""


class Choice(NamedTuple):
    """The chosen origin."""

    origin: StateOrigin
    snapshot: Path | None = None
    remark: str = ""
    """A message to the operator; may be empty."""


def choose(asked: Invocation, found: Found) -> Choice:
    """The origin of the state, if that is not damaged."""
    wanted = asked.snapshot or (found.newest if asked.snapshot_auto_latest else None)
    if asked.replay_from_snapshot:
        return _rebuild(wanted)
    if wanted is None and asked.snapshot_auto_latest and not found.has_state:
        return _from_blocks(asked, found)._replace(remark="--snapshot-auto-latest finds no snapshot in snapshot-dir")
    if wanted is None:
        return _from_blocks(asked, found)
    if found.has_state:
        remark = f"there is a state already, so the snapshot {wanted} is not imported"
        return _from_blocks(asked, found)._replace(remark=remark)
    if not wanted.is_file():
        # No error, as spec 06, section 8.1 has it: a service keeps the option after its snapshot became `FILE.used`.
        remark = f"--snapshot: there is no file {wanted}: the node goes on without it, as vizd does"
        return _from_blocks(asked, found)._replace(remark=remark)
    return Choice(StateOrigin.SNAPSHOT, wanted)


def _rebuild(snapshot: Path | None) -> Choice:
    if snapshot is None:
        raise OperatorError("--replay-from-snapshot: --snapshot-auto-latest finds no snapshot in snapshot-dir")
    if not snapshot.is_file():
        raise OperatorError(f"--replay-from-snapshot: there is no snapshot {snapshot}: name one that exists")
    return Choice(StateOrigin.REBUILD, snapshot)


def _from_blocks(asked: Invocation, found: Found) -> Choice:
    """The origin without a snapshot: the present state, or a replay of the whole log."""
    if asked.replay_blockchain and not found.log_head:
        if found.has_state:
            raise OperatorError(
                f"--replay-blockchain: there is no block log in {found.folder}, as in every node that began with a "
                "snapshot, and without one the state would be lost. Start without the option; to begin again from a "
                "snapshot use --replay-from-snapshot, from the peers --resync-blockchain"
            )
        return Choice(StateOrigin.PRESENT, remark=f"--replay-blockchain: there is no block log in {found.folder} yet")
    is_behind = found.log_head > found.head
    has_cause = asked.replay_blockchain or is_behind
    if has_cause and (asked.force_replay_blockchain or not is_behind):
        return Choice(StateOrigin.BLOCK_LOG)
    return Choice(StateOrigin.PRESENT)


def choose_after(problem: StorageError, asked: Invocation, found: Found) -> Choice:
    """The origin if the state is unusable. `OperatorError`: there is nothing to rebuild it from, or none is allowed."""
    snapshot = found.usable
    if asked.auto_recover_from_snapshot and snapshot is not None:
        return Choice(StateOrigin.REBUILD, snapshot, remark=f"{problem}; rebuilding it from {snapshot}")
    if asked.replay_if_corrupted and found.log_head:
        return Choice(StateOrigin.BLOCK_LOG, remark=f"{problem}; replaying the block log")
    raise OperatorError(
        f"{problem}. Nothing at hand makes it again by itself: start with --replay-from-snapshot --snapshot PATH, or "
        "with --resync-blockchain, which deletes everything and syncs from the peers"
    ) from problem
