"""The context of `with store.editing(a, b):`, which tells the tables before and after."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ledgerd.state.memory.open_table import Edit


class Editing:
    """Several objects while they are being changed.

    An edit of an object inside an edit of it is allowed; both see the same object. When the body raises, or when
    a change cannot be kept, all of them get back the values that they had before.
    """

    __slots__ = ("_begun", "_edits")

    def __init__(self, edits: Sequence[Edit[Any]]) -> None:
        self._edits = edits
        self._begun: list[Edit[Any]] = []

    def __enter__(self) -> None:
        try:
            for edit in self._edits:
                edit.__enter__()
                self._begun.append(edit)
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
            for edit in self._begun:
                edit.__exit__(None, None, None)
        except BaseException:
            self._revert()
            raise

    def _revert(self) -> None:
        for edit in reversed(self._begun):
            edit.table.revert(edit)
