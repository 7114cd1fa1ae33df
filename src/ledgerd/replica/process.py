"""A replica as a process of its own: `python -m ledgerd.replica.process PLACE DATA_DIR [CERTIFICATE KEY AUTHORITY]`."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ledgerd.producer.signer_place import PlaceFault
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.part import FollowPart
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.supervision.main_loop import on_a_loop
from ledgerd.supervision.part import Supervisor
from ledgerd.supervision.tasks import first_of


async def live(settings: StreamSettings, data_dir: Path) -> None:
    """Follow until a signal comes or it fails."""
    supervisor, part = Supervisor(), FollowPart(settings, data_dir)
    supervisor.take(part)
    stopping = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopping.set)
    await part.start()
    await first_of(stopping.wait(), supervisor.failed())
    await part.stop()
    if supervisor.failure is not None:
        raise supervisor.failure


def run(words: Sequence[str]) -> str | None:
    """Follow as the command line says; returns what is wrong with it, or what ended it."""
    place, data_dir, *files = words
    try:
        settings = StreamSettings(read_stream_place(place), *map(Path, files))
        if settings.fault:
            return settings.fault
        on_a_loop(lambda: live(settings, Path(data_dir)))
    except (PlaceFault, OperatorError) as fault:
        return str(fault)
    return None


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
