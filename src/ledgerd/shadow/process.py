"""The process of a shadow: it asks both nodes within its bounds, keeps the record on the disk, and ends at a signal."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from importlib.metadata import version
from pathlib import Path

from ledgerd.compare.asking import Pair
from ledgerd.compare.node import ComparedNode, Pace
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.shadow.finding import Finder
from ledgerd.shadow.following import Shadow
from ledgerd.shadow.keeping.bundles import Bundles
from ledgerd.shadow.keeping.record import ShadowRecord, read_record, record_file, write_record
from ledgerd.shadow.settings import ShadowOrder
from ledgerd.shadow.snapshots.turns import SnapshotTurns, StartJob

DURABLE_SECONDS = 60.0
"""Seconds between two writes of the record that survive a loss of power; a difference is written like that at once."""
RETRY_SECONDS = 30
SEEDS = 1 << 32

log = logging.getLogger(__name__)


def run_shadow(order: ShadowOrder, start: StartJob, is_over: Callable[[], bool] = lambda: False) -> None:
    """Run until a signal, or until there is no need any more. Snapshots are compared by processes that are started."""
    folder = Path(order.folder)
    folder.mkdir(parents=True, exist_ok=True)
    file = record_file(folder, order.theirs)
    record = read_record(file) or ShadowRecord(seed=secrets.randbelow(SEEDS))
    record.ours.url, record.theirs.url = order.ours, order.theirs
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        ComparedNode(order.ours, Pace(order.rate)) as ours,
        ComparedNode(order.theirs, Pace(order.rate)) as theirs,
    ):
        pair = Pair(ours, theirs)
        bundles = Bundles(folder, f"ledgerd {version('ledgerd')}", order.configuration)
        finder = Finder(pair, bundles, log.error)
        shadow = Shadow(pair, (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY), record, finder, time.time)
        turns = None
        if order.snapshots is not None:
            turns = SnapshotTurns(order.snapshots, file, record, finder, start, time.time, log.warning)
        try:
            with nullcontext() if turns is None else closing(turns):
                _go_on(shadow, turns, record, file, order.processor, is_over)
        except KeyboardInterrupt:
            log.info("the shadow stops at block %(block)d", {"block": record.highest})
        finally:
            write_record(file, record, durably=True)


def _go_on(
    shadow: Shadow,
    turns: SnapshotTurns | None,
    record: ShadowRecord,
    file: Path,
    processor: float,
    is_over: Callable[[], bool],
) -> None:
    durable_at, reported = time.monotonic(), record.differences
    while not is_over():
        began, used = time.monotonic(), time.process_time()
        pause = shadow.step()
        if turns is not None:
            turns.step()
        is_due = began - durable_at >= DURABLE_SECONDS or record.differences != reported
        write_record(file, record, durably=is_due)
        if is_due:
            durable_at, reported = began, record.differences
        least = (time.process_time() - used) * 100 / processor - (time.monotonic() - began)
        time.sleep(max(pause, least, 0.0))


def keep_running(order: ShadowOrder, start: StartJob, is_over: Callable[[], bool]) -> None:
    """Run beside a node, which a full disk or a damaged record must not end: it is said, and tried again."""
    while not is_over():
        try:
            run_shadow(order, start, is_over)
        except (OperatorError, OSError) as problem:
            log.error("nothing is compared: %(reason)s", {"reason": problem})  # noqa: TRY400 - it is no bug
            left = RETRY_SECONDS
            while left > 0 and not is_over():
                time.sleep(1.0)
                left -= 1
        else:
            return


def follows_parent(parent: int) -> Callable[[], bool]:
    """Whether the node that has started this process is gone."""
    return lambda: os.getppid() != parent
