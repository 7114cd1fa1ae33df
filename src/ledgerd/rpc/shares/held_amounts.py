"""What a worker keeps for clients, in bytes or in number, counted for all together and by who asked."""

from __future__ import annotations

from collections import Counter


class HeldAmounts:
    """Amounts of one thing, by who asked (`Asker.share`)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._amounts: Counter[str] = Counter()
        self.total = 0

    def change(self, share: str, by: int) -> None:
        """So much more, or less, is kept for one."""
        if not by:
            return
        self.total += by
        self._amounts[share] += by
        if not self._amounts[share]:
            del self._amounts[share]

    def of(self, share: str) -> int:
        return self._amounts[share]

    def has_room_for(self, more: int) -> bool:
        return not 0 < self._most < self.total + more

    @property
    def is_too_much(self) -> bool:
        """Whether something has to go."""
        return not self.has_room_for(0)

    @property
    def largest(self) -> str:
        """For whom most is kept; not to be asked where nothing is."""
        return max(self._amounts, key=self._amounts.__getitem__)
