"""What readers were shown and may ask for again: texts under keys, the oldest of which are forgotten."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CHARACTERS = 16 * 1024 * 1024


class Remembered(Generic[K, V]):
    """Two generations: when the young one is full, it becomes the old one, and that is forgotten.

    So nothing has to be done for what is only looked at, and there are never more than twice so many characters.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._most = characters
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._characters = 0

    def find(self, key: K) -> V | None:
        """What is remembered under a key."""
        known = self._young.get(key)
        return self._old.get(key) if known is None else known

    def find_all(self, keys: Iterable[K]) -> list[V | None]:
        """What is remembered under each key."""
        young, old = self._young.get, self._old.get
        return [young(key) or old(key) for key in keys]

    def keep(self, key: K, value: V, characters: int) -> None:
        """Remember something of a size."""
        self.keep_all(((key, value),), characters)

    def keep_all(self, pairs: Iterable[tuple[K, V]], characters: int) -> None:
        """Remember some things, of a size together."""
        if self._characters + characters > self._most:
            self._old, self._young, self._characters = self._young, {}, 0
            if characters > self._most:
                return
        self._young.update(pairs)
        self._characters += characters

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old, self._characters = {}, {}, 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
