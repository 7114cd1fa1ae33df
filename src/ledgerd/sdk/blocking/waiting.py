"""The client for programs that wait: everything that `Client` has, under the same names, without `await`.

Nothing is repeated here. What is asked of a client is done by one that runs in a thread of its own; what it answers
with, and would have to be awaited, gone through or entered itself, waits in the same way. The files of `types` beside
this one say what comes of it to type checkers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, update_wrapper
from typing import Any, Self

from ledgerd.sdk.client import Client
from ledgerd.sdk.errors import ClientError
from ledgerd.sdk.running import BackgroundLoop

PACKAGE = "ledgerd.sdk"


class Blocking:
    """An object of the client whose methods wait. `for` goes through a stream, `with` ends a transaction."""

    def __init__(self, target: Any, loop: BackgroundLoop) -> None:  # noqa: ANN401 - whatever the client has
        self._target, self._loop = target, loop

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        return self._wrapped(getattr(self._target, name))

    def __dir__(self) -> list[str]:
        return dir(self._target)

    def __repr__(self) -> str:
        return f"blocking {self._target!r}"

    def __enter__(self) -> Self:
        self._wait(self._target.__aenter__)
        return self

    def __exit__(self, *problem: object) -> None:
        self._wait(self._target.__aexit__, *problem)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:  # noqa: ANN401 - an event
        try:
            return self._wait(anext, self._target)
        except StopAsyncIteration:
            raise StopIteration from None

    def _wrapped(self, value: Any) -> Any:  # noqa: ANN401 - as it came, where nothing of it waits
        if inspect.isroutine(value):
            return self._function(value)
        kind: Any = type(value)
        return Blocking(value, self._loop) if _waits(kind) else value

    def _function(self, function: Callable[..., object]) -> Callable[..., Any]:
        def blocking(*arguments: object, **options: object) -> Any:  # noqa: ANN401 - what the function returns
            return self._wrapped(self._wait(function, *arguments, **options))

        return update_wrapper(blocking, function)

    def _wait(self, function: Callable[..., object], *arguments: object, **options: object) -> Any:  # noqa: ANN401
        """Call a function in the thread of the client, and return its result."""

        async def called() -> object:
            found = function(*arguments, **options)
            return await found if inspect.isawaitable(found) else found

        if self._loop.is_closed:
            raise ClientError("the client is closed")
        return self._loop.wait_for(called())


@cache
def _waits(kind: Any) -> bool:  # noqa: ANN401 - a class, which the cache takes for a value like any other
    """Whether objects of a class of the client have anything to be awaited."""
    if not kind.__module__.startswith(PACKAGE):
        return False
    return any(inspect.iscoroutinefunction(inspect.getattr_static(kind, name)) for name in dir(kind))


class BlockingClient(Blocking):
    """Used as `with BlockingClient(url) as client`; from several threads at once, if need be."""

    def __init__(self, *urls: str, **options: Any) -> None:  # noqa: ANN401 - those of `Client`
        super().__init__(Client(*urls, **options), BackgroundLoop())

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End its streams, its connections and its thread."""
        if not self._loop.is_closed:
            try:
                self.aclose()
            finally:
                self._loop.close()
