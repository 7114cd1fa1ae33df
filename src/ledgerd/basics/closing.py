"""What is closed at the end of a `with`, or where its block fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self


class Closing(ABC):
    """Can be used in a `with`, at whose end it is closed."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def on_error(end: Callable[[], object]) -> Iterator[None]:
    """Call a function if the block of the `with` fails, to take back what was begun."""
    try:
        yield
    except BaseException:
        end()
        raise
