"""Which needed parts of a program are down, and why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping


class Health:
    """The parts that are down. Any thread may write it; listeners are called at each change."""

    def __init__(self) -> None:
        self._down: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        self.changed: list[Callable[[Mapping[str, str]], None]] = []
        """Called with the parts that are down, on the thread of the change."""

    @property
    def down(self) -> dict[str, str]:
        """The parts that are down, each with the reason."""
        with self._lock:
            return {part: f"{name}: {reason}" for (part, name), reason in reversed(self._down.items())}

    def set_down(self, part: str, name: str, reason: str) -> None:
        """Record that something of a part does not work."""
        with self._lock:
            is_new = self._down.get((part, name)) != reason
            self._down[part, name] = reason
        self._tell(is_new=is_new)

    def set_up(self, part: str, name: str) -> None:
        """Record that something of a part works again."""
        with self._lock:
            is_new = self._down.pop((part, name), None) is not None
        self._tell(is_new=is_new)

    def _tell(self, *, is_new: bool) -> None:
        if is_new:
            down = self.down
            for tell in self.changed:
                tell(down)
