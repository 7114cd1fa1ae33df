"""The type that the generated client gives the answer of each method: what its classes ask a connection for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, TypeVar

from ledgerd.sdk.api.apis import Apis
from ledgerd.sdk.calling import TypedCall

T = TypeVar("T")


class _Asked(Exception):
    """A method has asked for its answer, which nobody has to give."""


class NotedCaller:
    """A connection that answers what it is told to, and knows what was asked last."""

    def __init__(self, *answers: Any) -> None:
        self.asked = TypedCall("", "")
        self.is_repeatable = True
        self._answers = list(answers)

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        self.asked, self.is_repeatable = TypedCall(api, method, params, result), repeatable
        if not self._answers:
            raise _Asked
        answer: T = self._answers.pop(0)
        return answer

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        raise NotImplementedError(calls)


def _given(parameter: inspect.Parameter) -> object:
    return () if "Sequence" in str(parameter.annotation) else "x" if "str" in str(parameter.annotation) else None


@cache
def typed_calls() -> dict[str, TypedCall]:
    """Each method of the generated classes by its full name, as it is called."""
    caller, found = NotedCaller(), {}
    apis = Apis(caller)
    for attribute, made in vars(Apis).items():
        if isinstance(made, cached_property):
            of_api = getattr(apis, attribute)
            for name, method in inspect.getmembers(of_api, inspect.iscoroutinefunction):
                needed = [each for each in inspect.signature(method).parameters.values() if each.default is each.empty]
                try:
                    asyncio.run(method(*map(_given, needed)))
                except _Asked:
                    found[f"{caller.asked.api}.{caller.asked.method}"] = caller.asked
                assert caller.asked.method == name
    return found
