"""Opening the log of a state: which of the two it is, whether it is the state's own, and whether it is whole.

A state lets a block go only when the log has it on the disk, and keeps the latest of those for a while. So a log that
ends too early has lost something since: what the state still has is written to it again, and nothing is made up for the
rest. A whole log without its blocks is for the operator to decide about; of a rolling one the node can do without them.
"""

from __future__ import annotations

import logging
from pathlib import Path

from ledgerd.basics.closing import on_error
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.chain.log.state_blocks import IMPORTED, LATEST, WHOLE, StateBlocks
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import NO_BLOCK

log = logging.getLogger(__name__)

BY_REPLAY = (
    "start once with --replay-blockchain, which makes the state again from the blocks that are there and fetches the "
    "others from peers"
)
BY_SNAPSHOT = (
    "to go on with the latest blocks only, write the state with `ledgerd snapshot export` and start once with "
    "--replay-from-snapshot --snapshot FILE"
)


class LogUnfit(OperatorError):
    """The log and the state do not belong together, or blocks of the log are lost; nothing was changed."""


def open_log(folder: Path, state: StateBlocks, rolling_blocks: int) -> BlockLog:
    """The log of a state, created if it had no irreversible blocks yet; `LogUnfit` says what is lost."""
    whole = BlockLog.open(folder)
    if not whole.head_number and state.irreversible and state.kind in {LATEST, IMPORTED}:
        whole.close()
        return _open_rolling(folder, state, rolling_blocks)
    with on_error(whole.close):
        _require_belonging(whole, state)
        if whole.head_number < state.irreversible:
            _require_no_gap(whole, state)
            _put_back(whole, state)
    return whole


def kind_of(log_: BlockLog) -> bytes:
    return LATEST if isinstance(log_, RollingBlockLog) else WHOLE


# -- whether the blocks are those of the state


def _matches(log_: BlockLog, state: StateBlocks, number: int) -> bool:
    expected = state.id_at(number)
    if expected == NO_BLOCK:
        return True
    try:
        block = log_.block(number)
    except LogDamaged:
        return False
    return block is not None and block.id == expected


def _belongs(log_: BlockLog, state: StateBlocks) -> bool:
    """Whether the log goes along with the state up to its last irreversible block, or as far as the log reaches.

    Above that block the state may stand on a branch that it has yet to leave: it was killed before a commit. A damaged
    end, of which the state has the blocks, is cut off.
    """
    last = min(log_.head_number, state.head)
    if not last or _matches(log_, state, last):
        return True
    last = min(last, state.irreversible)
    if last and state.id_at(last) != NO_BLOCK and _matches(log_, state, last):
        return True
    if not state.kept_from:
        return False
    lowest, sound = max(log_.first_number, state.kept_from - 1), last
    while sound >= lowest and not _matches(log_, state, sound):
        sound -= 1
    if sound < lowest or state.id_at(sound) == NO_BLOCK:
        return False
    log.warning(
        "%(file)s: the blocks from %(block)d on are damaged, and are cut off", {"file": log_.path, "block": sound + 1}
    )
    log_.cut_after(sound)
    return True


def _require_belonging(log_: BlockLog, state: StateBlocks) -> None:
    if not _belongs(log_, state):
        number = min(log_.head_number, state.irreversible or state.head)
        raise LogUnfit(
            f"block {number} of {log_.path} is not the one that the state in this data directory was made with: the "
            "file is damaged there, or belongs to another chain. Put the right block_log in its place (from a backup "
            "or another node; its index is made again), or, to keep the file and drop the state, move the state's "
            "data.mdb away. Nothing was changed"
        )


# -- whether blocks are missing


def _require_no_gap(log_: BlockLog, state: StateBlocks) -> None:
    """A whole log may end too early by the blocks that the state still has."""
    head, last = log_.head_number, state.irreversible
    if 0 < state.kept_from <= head + 1:
        return
    missing = f"blocks {head + 1} to {state.kept_from - 1 if state.kept_from else last}"
    found = f"ends at block {head}" if head else "is missing or empty"
    ways = "put a complete copy of the file in its place (from a backup or another node; its index is made again)"
    if state.kind in {LATEST, IMPORTED}:
        ways += "; or move it away: this state keeps the latest blocks only"
    elif head:
        ways += f"; or {BY_REPLAY}"
    else:
        ways += f"; or start once with --resync-blockchain to fetch all blocks from peers again; {BY_SNAPSHOT}"
    raise LogUnfit(
        f"{log_.path} {found}, but the last irreversible block of the state is {last}, and {missing} are nowhere else: "
        f"{ways}. Nothing was changed"
    )


def _put_back(log_: BlockLog, state: StateBlocks) -> None:
    first, last = log_.head_number + 1, state.irreversible
    for number in range(max(first, state.kept_from), last + 1):
        packed = state.kept(number)
        if packed is not None:
            log_.append(number, packed)
    log_.sync()
    log.warning(
        "%(file)s ended at block %(block)d; blocks %(first)d to %(last)d were put back from the state",
        {"file": log_.path, "block": first - 1, "first": first, "last": last},
    )


# -- the rolling log


def _open_rolling(folder: Path, state: StateBlocks, rolling_blocks: int) -> RollingBlockLog:
    """The rolling log. One that cannot be the state's, or lacks blocks that are lost, is set aside and begun again."""
    rolling = RollingBlockLog.open(folder)
    head, last = rolling.head_number, state.irreversible
    reason = ""
    if head:
        is_known = state.id_at(min(head, state.head)) != NO_BLOCK
        belongs = _belongs(rolling, state) if is_known else rolling.is_consistent_with(state.head)
        reason = "" if belongs else "is not the log of this state"
        head = rolling.head_number
    if rolling_blocks == 0 or state.kind == IMPORTED:
        return rolling if not reason else _begun_anew(rolling, state, reason)
    if not reason and head and head + 1 >= state.kept_from > 0 and head < last:
        _put_back(rolling, state)
    elif not reason and 0 < head < last:
        reason = f"ends at block {head}, below the irreversible block {last} of the state"
    if reason:
        return _begun_anew(rolling, state, reason)
    if not head and state.kind == LATEST:
        log.warning(
            "%(file)s is missing or empty: the latest blocks are kept from now on again", {"file": rolling.path}
        )
    return rolling


def _begun_anew(rolling: RollingBlockLog, state: StateBlocks, reason: str) -> RollingBlockLog:
    aside = rolling.set_aside()
    log.warning(
        "%(file)s %(reason)s: it was moved to %(moved_to)s, which may be deleted, and the latest blocks are kept from "
        "block %(block)d on",
        {
            "file": rolling.path,
            "reason": reason,
            "moved_to": aside,
            "block": state.kept_from or state.head + 1,
        },
    )
    return rolling
