"""What the generated classes of APIs, transactions and streams need of a connection: a method called by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.errors import RuleViolation

T = TypeVar("T")

PLAIN = (bool, int, float, str, list, dict)
"""Results that stay the JSON that they are."""


class TypedCall(NamedTuple):
    """A call in a batch, and the type of its result."""

    api: str
    method: str
    params: Sequence[object] = ()
    result: type[Any] = object


class Caller(Protocol):
    """Calls methods of nodes. Whatever goes wrong is a `ClientError`."""

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        """The result of a method. What is not repeatable reaches one node at most, and once."""

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        """The results of reads in one request, in order; a `NodeError` stands for its own."""


class WrongForm(ValueError):
    """JSON has another form than the type that it should be of."""


def decoded(answer: object, result: type[T]) -> T:
    """JSON as a value of a type: of a type that has a codec, or of one that JSON has itself, which stays as it is."""
    if result is object or result is Any:
        return cast("T", answer)
    if result in PLAIN:
        if not isinstance(answer, result):
            raise WrongForm(f"{type(answer).__name__} where {result.__name__} was expected")
        return answer
    try:
        return codec_of(result).from_json(answer)
    except (CodecError, RuleViolation, LookupError, TypeError, ValueError, ArithmeticError) as problem:
        raise WrongForm(str(problem)) from problem
