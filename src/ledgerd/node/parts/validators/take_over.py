"""Takes production over from another node of this machine once that has ended, with the record of what it signed: so a
validator moves to another version of the program, and back, between two of its slots.

The lock of the other data directory says whether its node runs. A mark that is left there, while the lock is ours,
keeps a node of that directory from making blocks without what was signed since.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

from ledgerd.basics.durable import put_in_place, sync_folder
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.time_text import time_text
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import LOCK_FILE, lock_writer
from ledgerd.supervision.threads import in_thread

OPTION = "validator-take-over"
MARK = "taken_over_by"
"""A file with the data directory of the node that has taken over from the one of this."""

QUIET_SLOTS = 4
"""Slots of others that have to come when the other node is stopped, for it to end and for this one to begin."""


def require_not_taken_over(data_dir: Path, giver: Path | None) -> None:
    """Refuse to make blocks where another node has taken over, unless that one gives them back now."""
    mark = data_dir / MARK
    if not mark.exists():
        return
    taker = mark.read_text(encoding="utf-8").strip()
    if giver is None or giver.resolve() != Path(taker):
        raise OperatorError(
            f"the node of {taker} has taken over from the one of {data_dir}, and knows what was signed since: start "
            f"this one with {OPTION} = {taker}, then stop that one. If that directory is lost, wait for a round after "
            f"its last block and remove {mark}"
        )


class GivingNode:
    """The node that gives, by its data directory."""

    def __init__(self, folder: Path, own: Path, chain_id: bytes) -> None:
        self.folder, self._own, self._chain_id = folder, own, chain_id

    def check(self) -> None:
        """Find now what would be in the way later."""
        if not (self.folder / LOCK_FILE).is_file():
            raise OperatorError(f"{OPTION}: {self.folder} is no data directory of a node")
        if self.folder.resolve() == self._own.resolve():
            raise OperatorError(f"{OPTION}: {self.folder} is the data directory of this node")
        require_not_taken_over(self._own, self.folder)
        LastSigned(self.folder, self._chain_id)

    @property
    def has_given(self) -> bool:
        """Whether this node has taken over already, and has not given back: it need not wait for an end again."""
        mark = self.folder / MARK
        is_ours = mark.exists() and Path(mark.read_text(encoding="utf-8").strip()) == self._own.resolve()
        return is_ours and not (self._own / MARK).exists()

    async def ended(self) -> IO[bytes]:
        """Wait for its end; its lock, for the moment of the taking."""
        while True:
            try:
                return await in_thread(lock_writer, self.folder)
            except StoreLocked:
                continue  # each attempt takes a second

    def take(self) -> str:
        """Go on from the last block that the other node signed; returns that in words. Call it while holding its lock.
        After a kill in between, it is done again.
        """
        given, own = LastSigned(self.folder, self._chain_id), LastSigned(self._own, self._chain_id)
        last = given.block
        if last is not None and given.time > own.time:
            own.record(last)
        self._leave_mark()
        (self._own / MARK).unlink(missing_ok=True)
        sync_folder(self._own)
        return "nothing" if last is None else f"block #{last.number} of {time_text(last.timestamp)}"

    def _leave_mark(self) -> None:
        fresh = self.folder / f"{MARK}.new"
        fresh.write_text(f"{self._own.resolve()}\n", encoding="utf-8")
        put_in_place(fresh, self.folder / MARK)
