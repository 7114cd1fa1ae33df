"""Bytes that a worker keeps for clients, counted for all together and by who asked."""

from __future__ import annotations

from collections import Counter


class HeldBytes:
    """Bytes, by who asked (`Asker.share`)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes: Counter[str] = Counter()
        self.total = 0

    def change(self, share: str, by: int) -> None:
        """So many bytes more, or fewer, are kept for one."""
        if not by:
            return
        self.total += by
        self._bytes[share] += by
        if not self._bytes[share]:
            del self._bytes[share]

    @property
    def is_too_much(self) -> bool:
        """Whether something has to go."""
        return 0 < self._most < self.total

    @property
    def largest(self) -> str:
        """For whom most is kept; not to be asked where nothing is."""
        return max(self._bytes, key=self._bytes.__getitem__)
