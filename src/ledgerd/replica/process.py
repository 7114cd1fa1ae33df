"""A replica as a process of its own: `python -m ledgerd.replica.process PLACE DATA_DIR [CERTIFICATE KEY AUTHORITY]`.

`ledgerd api --follow` runs one too, which it tells what to do over its input.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from ledgerd.producer.signing.signer_place import PlaceFault
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.part import FollowPart
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.supervision.part import Supervisor
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.this_process import on_a_loop


async def live(part: FollowPart, until: Coroutine[Any, Any, object], started: Callable[[], None]) -> None:
    supervisor = Supervisor()
    supervisor.add(part)
    await part.start()
    started()
    await first_of(until, supervisor.failed())
    await part.stop()
    if supervisor.failure is not None:
        raise supervisor.failure


async def _until_a_signal(part: FollowPart) -> None:
    stopping = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopping.set)
    await live(part, stopping.wait(), lambda: None)


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
