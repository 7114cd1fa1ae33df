"""Changing objects: `with store.editing(a, b):` notes them before, and finds their new places after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from ledgerd.state.cache import TableCache
    from ledgerd.state.tables import Entity
    from ledgerd.state.undo import Ranks

Note = tuple["TableCache[Any]", "Entity", "Entity", "Ranks", "Entity | None"]
"""Where an object belongs, itself, its copy and ranks from before, and where it stood if another edit encloses this."""


class Editing:
    """Objects while they are being changed.

    An edit of an object inside an edit of it is allowed; both see the same object. When the body raises, or when
    a change cannot be kept, all of them get back the values that they had before.
    """

    __slots__ = ("_caches", "_entities", "_notes")

    def __init__(self, caches: Mapping[type[Entity], TableCache[Any]], entities: tuple[Entity, ...]) -> None:
        self._caches = caches
        self._entities = entities
        self._notes: list[Note] = []

    def __enter__(self) -> None:
        try:
            for entity in self._entities:
                cache = self._caches[type(entity)]
                standing = cache.opened.get(entity.id)
                image = cache.open(entity)
                self._notes.append((cache, entity, image, cache.ranks.get(entity.id, ()), standing))
        except BaseException:
            self._revert()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._revert()
            return
        try:
            for note in self._notes:
                note[0].close(note[1])
        except BaseException:
            self._revert()
            raise
        for cache, entity, _, _, standing in self._notes:
            if standing is None:
                cache.opened.pop(entity.id, None)

    def _revert(self) -> None:
        for cache, entity, image, ranks, standing in reversed(self._notes):
            if standing is None:
                cache.opened.pop(entity.id, None)
            else:
                cache.opened[entity.id] = standing
            cache.revert(entity, image, ranks)
