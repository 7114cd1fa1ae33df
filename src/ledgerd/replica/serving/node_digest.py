"""The digest of a node's state: computed once in full, then by the keys that the log of changes names.

The values from before and after are read from two commits, so the chain's thread has nothing to do for it.
"""

from __future__ import annotations

import asyncio

from ledgerd.basics.framing.frames import FrameBuffer
from ledgerd.replica.digest import MODULUS, hash_of
from ledgerd.replica.source import NAMES, HeldCommit, NodeFiles
from ledgerd.state.files.change_frames import MOST_FRAME, ChangeFault, RecordFrame, opened, read_part
from ledgerd.state.files.change_log import Place

AT_ONCE = 500
"""ChangedEntries between two turns of others."""


class NodeDigest:
    """The digest at one commit, which is held open until the next."""

    def __init__(self, source: NodeFiles) -> None:
        self._source = source
        self._held: HeldCommit | None = None
        self._place: Place | None = None
        self.total: int | None = None
        """None until it was computed in full."""

    @property
    def position(self) -> bytes:
        return b"" if self._held is None else self._held.position

    async def begin(self) -> None:
        self.end()
        held = self._held = self._source.snapshot()
        self._place = self._source.changes.place_of(held.position)
        total = 0
        for number in NAMES:
            for count, (key, value) in enumerate(held.rows(number)):
                total += hash_of(number, key, value)
                if not count % AT_ONCE:
                    await asyncio.sleep(0)
        self.total = total % MODULUS

    async def advance(self, now: HeldCommit) -> None:
        """Go on to a later commit, its own from now on. `LogGap`: what was changed in between is not known any more."""
        held, total = self._held, self.total
        if held is None or total is None:
            now.close()
            return
        try:
            for number, keys in (await self._changed(now.position)).items():
                for count, key in enumerate(keys):
                    before, after = held.get(number, key), now.get(number, key)
                    if before != after:
                        total -= 0 if before is None else hash_of(number, key, before)
                        total += 0 if after is None else hash_of(number, key, after)
                    if not count % AT_ONCE:
                        await asyncio.sleep(0)
        except BaseException:
            now.close()
            self.end()
            raise
        held.close()
        self._held, self.total = now, total % MODULUS

    async def _changed(self, until: bytes) -> dict[int, set[bytes]]:
        log, keys = self._source.changes, dict[int, set[bytes]]()
        place, position = self._place, self.position
        while position != until and place is not None:
            head, parts = log.record_at(place)
            frames = FrameBuffer(MOST_FRAME)
            for piece in log.bytes_at(parts, head.size, 1 << 20):
                for frame in frames.frames_in(piece):
                    _add_keys(frame, keys)
                await asyncio.sleep(0)
            place, position = parts._replace(offset=parts.offset + head.size), head.after
        self._place = place
        return keys

    def end(self) -> None:
        """Let the commit go: nobody needs the digest."""
        if self._held is not None:
            self._held.close()
        self._held, self.total = None, None


def _add_keys(frame: bytes, keys: dict[int, set[bytes]]) -> None:
    kind, body = opened(frame)
    if kind != RecordFrame.PART:
        raise ChangeFault(f"a frame of kind {kind} in a record")
    for number, entries in read_part(body).items():
        keys.setdefault(number, set()).update(entries)
