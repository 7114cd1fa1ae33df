"""Which needed parts of a program are down, and why, and what else its operator has to see to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple


class HealthStatus(NamedTuple):
    """The parts that are down, and the warnings, at one moment."""

    down: Mapping[str, str]
    warnings: tuple[str, ...] = ()


class Health:
    """The parts that are down, and warnings. Any thread may write it; `on_change` is called at each change."""

    def __init__(self) -> None:
        self._down: dict[tuple[str, str], str] = {}
        self._warnings: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        self.on_change: list[Callable[[HealthStatus], None]] = []
        """Called on the thread of the change."""

    @property
    def down(self) -> dict[str, str]:
        with self._lock:
            return {part: f"{name}: {reason}" for (part, name), reason in reversed(self._down.items())}

    @property
    def status(self) -> HealthStatus:
        return HealthStatus(self.down, self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._warnings.values())

    def warn(self, part: str, name: str, text: str) -> None:
        """Set the warning of a name, or take it back with an empty text."""
        with self._lock:
            is_new = self._warnings.get((part, name), "") != text
            if text:
                self._warnings[part, name] = text
            else:
                self._warnings.pop((part, name), None)
        self._notify(is_new=is_new)

    def set_down(self, part: str, name: str, reason: str) -> None:
        with self._lock:
            is_new = self._down.get((part, name)) != reason
            self._down[part, name] = reason
        self._notify(is_new=is_new)

    def set_up(self, part: str, name: str) -> None:
        with self._lock:
            is_new = self._down.pop((part, name), None) is not None
        self._notify(is_new=is_new)

    def _notify(self, *, is_new: bool) -> None:
        if is_new:
            status = self.status
            for call in self.on_change:
                call(status)
