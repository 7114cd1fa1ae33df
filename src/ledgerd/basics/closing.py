"""What is closed at the end of a `with`, or where its block fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self


class Closing(ABC):
    """Is closed when the block ends, with or without an error."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def on_error(end: Callable[[], object]) -> Iterator[None]:
    """Take back what was begun where the block does not come to its end."""
    try:
        yield
    except BaseException:
        end()
        raise
