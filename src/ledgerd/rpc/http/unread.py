"""Received bytes that are parsed when the connection has a turn."""

from __future__ import annotations

from collections import deque

PARSED_BYTES = 4 * 1024
"""Received bytes that are parsed at once: a thousand small frames or requests take their time, and their memory."""

PART_BYTES = 256
"""What a parsed frame or request takes in memory besides its bytes."""


class Unread:
    """The bytes, in the order in which they came."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._place = 0
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def add(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self.size += len(data)

    def take(self, most: int) -> bytes:
        if not self._parts:
            return b""
        part, start = self._parts[0], self._place
        if start == 0 and len(part) <= most:
            self._parts.popleft()
            taken = part
        else:
            taken = part[start : start + most]
            self._place += len(taken)
            if self._place == len(part):
                self._parts.popleft()
                self._place = 0
        self.size -= len(taken)
        return taken

    def take_all(self) -> bytes:
        return b"".join(iter(lambda: self.take(self.size), b""))

    def clear(self) -> None:
        self._parts.clear()
        self._place = self.size = 0
