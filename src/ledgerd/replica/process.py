"""A replica as a process of its own: `python -m ledgerd.replica.process PLACE DATA_DIR [CERTIFICATE KEY AUTHORITY]`.

`ledgerd api --follow` runs one too, which it tells what to do over its input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.producer.signing.signer_place import PlaceFault
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.copies.following import FollowStatus, Replica
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.state.views.serving_status import ServingStatus, write_serving_status
from ledgerd.supervision.part import Part, run_part, stop_signals
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.threads import RunningThread, in_thread
from ledgerd.supervision.work import Ending, Work

NO_STATE = "the state of the node is not here yet"
DIFFERED = "the state was another than the node's, and is replaced"
REFUSED = "the followed node refuses"
MOST_BEHIND = 20
"""Blocks: a minute. What is further behind is not served; a load balancer has other places."""
TOO_FAR = f"the state is more than {MOST_BEHIND} blocks behind the followed node"
STOP_SECONDS = 10.0


class FollowPart(Part):
    """Follows a node; an error that no later connection can right ends the program."""

    def __init__(self, settings: StreamSettings, data_dir: Path, chain_id: bytes = b"") -> None:
        super().__init__(Work("replica", Ending.ENDS_PROGRAM))
        self._settings, self._data_dir, self._chain_id = settings, data_dir, chain_id
        self._replica: Replica | None = None
        self._thread: RunningThread | None = None
        self._written: ServingStatus | None = None

    async def start(self) -> None:
        self._data_dir.mkdir(parents=True, exist_ok=True)
        self._replica = Replica(self._settings, self._data_dir / STATE_FOLDER, self._publish, chain_id=self._chain_id)
        self._thread = self.work.thread("following", self._replica.run)

    def _publish(self, status: FollowStatus) -> None:
        followed = ServingStatus(why_not_served(status), status.behind)
        if followed != self._written:
            self._written = followed
            write_serving_status(self._data_dir, followed)

    async def stop(self) -> None:
        if self._replica is not None and self._thread is not None:
            self._replica.stop()
            await in_thread(self._thread.join, STOP_SECONDS)


def why_not_served(status: FollowStatus) -> str:
    """Why the state of a replica is not to be served, for clients to read; empty if it is."""
    if status.is_sound:
        return TOO_FAR if status.behind > MOST_BEHIND else ""
    if status.refusal:
        return f"{REFUSED}: {status.refusal}"
    return DIFFERED if status.has_differed else NO_STATE


async def _until_a_signal(part: FollowPart) -> None:
    await run_part(part, stop_signals().wait)


def run(words: Sequence[str]) -> str | None:
    """Follow as the command line says; returns what is wrong with it, or what ended it."""
    place, data_dir, *files = words
    try:
        settings = StreamSettings(read_stream_place(place), *map(Path, files))
        if settings.fault:
            return settings.fault
        on_a_loop(lambda: _until_a_signal(FollowPart(settings, Path(data_dir))))
    except (PlaceFault, OperatorError) as fault:
        return str(fault)
    return None


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
