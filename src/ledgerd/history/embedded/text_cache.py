"""A cache of texts by key; the oldest are dropped."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CHARACTERS = 16 * 1024 * 1024


class TextCache(Generic[K, V]):
    """A cache of two generations: when the young one is full, it replaces the old one. So a lookup changes nothing, and
    the cache has at most twice its limit of characters.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._most = characters
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._characters = 0

    def find(self, key: K) -> V | None:
        known = self._young.get(key)
        return self._old.get(key) if known is None else known

    def find_all(self, keys: Sequence[K]) -> list[V | None]:
        found = list(map(self._young.get, keys))
        if not self._old or all(found):
            return found
        return [text or self._old.get(key) for key, text in zip(keys, found, strict=True)]

    def keep(self, key: K, value: V, characters: int) -> None:
        self.keep_all(((key, value),), characters)

    def keep_all(self, pairs: Iterable[tuple[K, V]], characters: int) -> None:
        if self._characters + characters > self._most:
            self._old, self._young, self._characters = self._young, {}, 0
            if characters > self._most:
                return
        self._young.update(pairs)
        self._characters += characters

    def clear(self) -> None:
        self._young, self._old, self._characters = {}, {}, 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
