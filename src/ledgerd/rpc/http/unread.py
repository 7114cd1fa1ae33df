"""Received bytes that are parsed when the connection has a turn."""

from __future__ import annotations

from collections import deque


class Unread:
    """The bytes, in the order in which they came."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._place = 0
        """How much of the first part was taken."""
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def add(self, data: bytes) -> None:
        """Bytes that have arrived."""
        if data:
            self._parts.append(data)
            self.size += len(data)

    def take(self, most: int) -> bytes:
        """The next bytes, at most so many, and none where there are none."""
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
        """All of them."""
        return b"".join(iter(lambda: self.take(self.size), b""))

    def clear(self) -> None:
        """Forget all of them."""
        self._parts.clear()
        self._place = self.size = 0
