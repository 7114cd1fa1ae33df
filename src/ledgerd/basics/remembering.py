"""Results that are remembered by short texts or bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=str | bytes)
V = TypeVar("V")


class Remembering(dict[K, V]):
    """Makes values and remembers them. A dict costs less than a cache in the order of use, for known keys and for new
    ones; when it is full it begins anew.
    """

    def __init__(self, make: Callable[[K], V], most: int, longest: int) -> None:
        """Remember at most `most` values, for keys no longer than `longest`."""
        super().__init__()
        self._make = make
        self._most = most
        self._longest = longest

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if len(self) >= self._most:
            self.clear()
        if len(key) <= self._longest:
            self[key] = value
        return value
