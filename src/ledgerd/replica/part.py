"""A replica as a part of a program: its thread, and the file that tells API nodes whether its state may be served."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.chain.chain import STATE_FOLDER
from ledgerd.replica.following import FollowStatus, Replica
from ledgerd.supervision.part import Part
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Ending

if TYPE_CHECKING:
    from ledgerd.replica.settings import StreamSettings
    from ledgerd.supervision.threads import RunningThread

STANDING_FILE = "following.json"
NO_STATE = "the state of the node is not here yet"
STOP_SECONDS = 10.0


class FollowPart(Part):
    """Follows a node; an error that no later connection can right ends the program."""

    def __init__(self, settings: StreamSettings, data_dir: Path) -> None:
        super().__init__("replica", Ending.ENDS_PROGRAM)
        self._settings, self._data_dir = settings, data_dir
        self._replica: Replica | None = None
        self._thread: RunningThread | None = None
        self._told = b""

    async def start(self) -> None:
        """Follow from now on."""
        self._data_dir.mkdir(parents=True, exist_ok=True)
        self._replica = Replica(self._settings, self._data_dir / STATE_FOLDER, self._tell)
        self._thread = self.work.thread("following", self._replica.run, may_end=True)

    def _tell(self, status: FollowStatus) -> None:
        """Replace the file where it would say something else; a reader finds the former one or the new one."""
        standing = {"reason": "" if status.is_sound else NO_STATE, "behind": status.behind}
        text = msgspec.json.encode(standing)
        if text != self._told:
            self._told = text
            new = self._data_dir / f"{STANDING_FILE}.new"
            new.write_bytes(text)
            new.replace(self._data_dir / STANDING_FILE)

    async def stop(self) -> None:
        """End it after what it is at."""
        if self._replica is not None and self._thread is not None:
            self._replica.stop()
            await in_thread(self._thread.join, STOP_SECONDS)
