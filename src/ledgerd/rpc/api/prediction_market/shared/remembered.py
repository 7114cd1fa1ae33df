"""What a worker works out of the markets of one head and remembers until the next (spec 11, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty

T = TypeVar("T")


def _head_of(properties: DynamicGlobalProperty) -> tuple[bytes, int]:
    return properties.head_block_id, properties.time


def head_time(view: ApiView) -> int:
    return head_of(view)[1]


def head_of(view: ApiView) -> tuple[bytes, int]:
    head = view.state.derived(_head_of, DYNAMIC_GLOBAL_PROPERTIES.by_id, 0)
    return (b"", 0) if head is None else head


MOST_REMEMBERED = 1_000
"""Values that are remembered for one head."""


class OfThisHead:
    """Values by their keys, all of one head block."""

    def __init__(self) -> None:
        self._head: tuple[bytes, int] = (b"", 0)
        self._values: dict[Hashable, object] = {}

    def get(self, head: tuple[bytes, int], key: Hashable, make: Callable[[], T]) -> T:
        if head != self._head or len(self._values) >= MOST_REMEMBERED:
            self._head, self._values = head, {}
        if key not in self._values:
            self._values[key] = make()
        return cast("T", self._values[key])

    def __len__(self) -> int:
        return len(self._values)


def of_this_head(view: ApiView, key: Hashable, make: Callable[[], T]) -> T:
    """A value that stays while the head does; pending transactions do not change it."""
    return view.node.memory(OfThisHead).get(head_of(view), key, make)
