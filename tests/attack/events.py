"""What happens on the operator's side of a network that runs: a clock that is set, and a disk that is full.

Each event is played on a network of its own, by `scripts/attack clock` and `scripts/attack full-disk`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from ledgerd.chain.log.block_log import FULL_LOG
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.types.time_text import parse_time_text
from tests.attack.ground import Ground
from tests.attack.timed_node import CLOCK_FILE

WRONG_SECONDS, RIGHT_SECONDS = 20.0, 180.0
"""How long a clock is wrong, and how long it may take until the node goes on when it is right."""
AN_HOUR = 3_600
NEW_BLOCKS = 3
"""Own blocks that show that the node goes on."""
ENDS_SECONDS, STARTS_SECONDS = 90.0, 90.0

Event = Callable[[Ground], list[str]]
"""Plays an event; returns what did not hold."""


def stepped_clock(made: Ground) -> list[str]:
    """The clock of the node is an hour ahead, right again, an hour behind, and right again."""
    faults = []
    for step in (AN_HOUR, -AN_HOUR):
        _set_clock(made, step)
        deadline = time.monotonic() + WRONG_SECONDS
        while time.monotonic() < deadline:
            faults += _times_ahead(made)
            time.sleep(1)
        _set_clock(made, 0)
        if not _goes_on(made, RIGHT_SECONDS):
            faults.append(f"no own blocks after the clock was {step} s wrong")
    return faults


def full_disk(made: Ground) -> list[str]:
    """No file of the node may grow beyond its block log, as on a full disk; then the disk has room again."""
    node, faults = made.network.processes[0], list[str]()
    _, before = _own_blocks(made)
    size = next(made.target.folder.rglob(FULL_LOG.name)).stat().st_size
    resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (size, size))
    if not _within(ENDS_SECONDS, lambda: node.has_died):
        return ["it goes on without being able to write"]
    if not any(words in node.last_words() for words in ("no room left", "cannot be written")):
        faults.append(f"it does not say why it ends: {node.last_words()[-300:]}")
    made.network.watch.inspect()
    if not _within(STARTS_SECONDS, node.restart) or not _goes_on(made, RIGHT_SECONDS):
        faults.append(f"it does not go on when there is room again: {node.last_words()[-300:]}")
    _, after = _own_blocks(made)
    if after <= before:
        faults.append(f"block {before} was lost: the head is {after}")
    return faults


EVENTS: dict[str, Event] = {"clock": stepped_clock, "full-disk": full_disk}


def _set_clock(made: Ground, step: int) -> None:
    (made.target.folder / CLOCK_FILE).write_text(str(step))


def _own_blocks(made: Ground) -> tuple[str, int]:
    """The validator of the head, and its number, as the honest node sees them."""
    sight = made.network.watch.inspect()[1]
    return ("", 0) if sight is None else (sight.producer, sight.head)


def _goes_on(made: Ground, seconds: float) -> bool:
    """Whether the node makes blocks that the honest one has."""
    own, seen = set(made.target.validators), set[int]()

    def has_enough() -> bool:
        producer, head = _own_blocks(made)
        if producer in own:
            seen.add(head)
        return len(seen) >= NEW_BLOCKS

    return _within(seconds, has_enough)


def _times_ahead(made: Ground) -> list[str]:
    """The head of the honest node, where its time has not come."""
    told = made.head_time_at(made.honest)
    ahead = parse_time_text(told) - time.time()
    return [f"a block is {ahead:.0f} s ahead of time"] if ahead > BLOCK_INTERVAL else []


def _within(seconds: float, holds: Callable[[], object]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.5)
    return False
