"""The process that compares one snapshot for a shadow: it makes our state at that block where we have no snapshot of
it, and ends with the shadow.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import msgspec

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.network import network_of
from ledgerd.node.config.options.application import LogFormat
from ledgerd.node.datadir.directory_blocks import directory_blocks
from ledgerd.node.datadir.past_state import PastState
from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.snapshots.comparing import Pause, compare
from ledgerd.shadow.snapshots.outcome import SnapshotJob, write_outcome
from ledgerd.shadow.snapshots.turns import StartJob
from ledgerd.snapshot.file.directory import kept_in
from ledgerd.supervision.processes import PIPE, POLL_SECONDS, Child, module_command
from ledgerd.supervision.this_process import give_way, read_arguments, search_rarely
from ledgerd.supervision.threads import begin_thread

NICENESS = 19
MOST_REPLAYED = 400_000
"""Blocks between our nearest snapshot and the state that is wanted, two weeks: a few minutes of a core."""
SPARE_BYTES = 256 << 20
"""Bytes that stay free on the disk."""


class SnapshotArguments(msgspec.Struct, frozen=True):
    """The arguments of the process, read from standard input."""

    job: SnapshotJob
    shadow: int
    """The id of the process that has started it."""
    log_format: LogFormat = "text"


def starter(log_format: LogFormat) -> StartJob:
    def start(job: SnapshotJob) -> Child:
        child = Child.start(module_command(__name__), stdin=PIPE, has_own_session=True)
        child.write(msgspec.json.encode(SnapshotArguments(job, os.getpid(), log_format)))
        return child

    return start


class ProcessorShare:
    """Has this process take so many percent of a core."""

    def __init__(self, percent: float) -> None:
        self._percent = percent
        self._began, self._used = time.monotonic(), time.process_time()

    def __call__(self) -> None:
        now, used = time.monotonic(), time.process_time()
        least = (used - self._used) * 100 / self._percent
        time.sleep(max(0.0, least - (now - self._began)))
        self._began, self._used = time.monotonic(), used


class OurStates:
    """Makes our state at a block, as `ledgerd state --at` does."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self.network = network_of(configuration)

    def make(self, number: int, target: Path, pause: Pause) -> str:
        configuration = self._configuration
        kept = (each.number for each in kept_in(configuration.snapshot.directory) if each.number <= number)
        nearest = max(kept, default=0)
        if number - nearest > MOST_REPLAYED:
            raise OperatorError(
                f"our nearest snapshot is {number - nearest} blocks below that of the other node, which is of block "
                f"{number}: have this node write snapshots (snapshot-every-n-blocks)"
            )
        options, logs = configuration.chain, configuration.invocation.data_dir / STATE_FOLDER
        with directory_blocks(options.shared_file_dir, logs, options.block_archive_dir) as blocks:
            past = PastState(configuration, self.network, blocks, number, target)
            free = shutil.disk_usage(target.parent).free
            if past.needs() + SPARE_BYTES > free:
                raise OperatorError(f"{target.parent} has {free} bytes free, and our state takes {past.needs()}")
            past.begin()
            return past.replay(lambda _: pause()).block_id


def main() -> None:
    give_way(NICENESS)
    search_rarely()
    arguments = read_arguments(sys.stdin.buffer.read(), SnapshotArguments)
    set_up_child_logging(arguments.log_format)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin_thread("end of the shadow", lambda: _wait_for_end(arguments.shadow), lambda _: os._exit(1))
    job = arguments.job
    states = OurStates(read_configuration(job.task.node, Path.cwd())) if job.task.node else None
    network, make = (None, None) if states is None else (states.network, states.make)
    write_outcome(Path(job.folder), compare(job, network, make, ProcessorShare(job.task.processor)))


def _wait_for_end(shadow: int) -> None:
    while os.getppid() == shadow:
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
