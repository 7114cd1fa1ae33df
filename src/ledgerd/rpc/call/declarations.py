"""The declaration of API methods: a function with annotated parameters.

`openrpc.json` and `docs/api.md` are generated from the declarations.

DATABASE = Api("database_api", "The ledger as it stands.")

@DATABASE.method(args=exactly(1), examples=[[1]])
    def get_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
        '''The header of a block.'''

A function answers at once, from the state. A coroutine, which gets the `Node`, answers when it has finished. An
asynchronous generator is a subscription: it sends answers to a WebSocket client until that disconnects, and one over
HTTP.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated, TypeVar, get_args, get_type_hints

import msgspec

from ledgerd.codec import Codec, codec_of
from ledgerd.codec.json.text import Json, dumps
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.rpc.call.counts import UNCOUNTED, Count
from ledgerd.rpc.call.errors import missing_argument

Function = TypeVar("Function", bound=Callable[..., object])


class AnyJson(Kind):
    """Any JSON value, which is not converted."""

    title = "any JSON"

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(dumps)}({value})"

    def parse(self, value: object) -> object:
        return value

    def default(self) -> None:
        """Null."""


AnyValue = Annotated[object, AnyJson()]
"""An argument of any type, or a result that is built as plain JSON."""


class Nothing(msgspec.Struct, frozen=True):
    """An empty result: `{}`."""


class Answering(Enum):
    """Whether a method answers at once, later, or again and again."""

    AT_ONCE = "at once"
    LATER = "later"
    REPEATEDLY = "again and again"


class Parameter:
    """One argument of a method; a default in the signature makes it optional."""

    def __init__(self, declared: inspect.Parameter, annotation: object) -> None:
        self.name = declared.name
        self.annotation = annotation
        self.is_required = declared.default is inspect.Parameter.empty
        self.default: object = None if self.is_required else declared.default

    @cached_property
    def codec(self) -> Codec[object]:
        return codec_of(self.annotation)


def every_method_of(api: str) -> str:
    """The name under which requests of all methods of an API are counted together."""
    return f"{api}.*"


class Method:
    """One method of an API: its arguments, its result, and when it answers."""

    def __init__(self, api: str, name: str, function: Callable[..., object], count: Count) -> None:
        self.api = api
        self.name = name
        self.full_name = self.counted_as = f"{api}.{name}"
        self.function = function
        self.count = count
        self.summary = inspect.getdoc(function) or ""
        self.answering = _answering(function)
        self.is_cached = self.answering is Answering.AT_ONCE
        self.is_weighed = True
        """Whether the entries of its arguments are counted; a block has its own limits."""
        self.examples: Sequence[Sequence[Json]] = ()
        self.alias_of = ""
        self.described: dict[str, Json] | None = None
        """The OpenRPC description of the method, if another process has written it."""

    @cached_property
    def _hints(self) -> dict[str, object]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments in their order, without the view or node that the function also gets."""
        declared = list(inspect.signature(self.function).parameters.values())[1:]
        return tuple(Parameter(each, self._hints[each.name]) for each in declared)

    @cached_property
    def result(self) -> object:
        """The annotation of its result; of a subscription, of each answer."""
        declared = self._hints["return"]
        return get_args(declared)[0] if self.answering is Answering.REPEATEDLY else declared

    @cached_property
    def codec(self) -> Codec[object]:
        return codec_of(self.result)

    def arguments(self, given: list[Json]) -> list[object]:
        self.count.check(len(given))
        taken: list[object] = []
        for index, parameter in enumerate(self.parameters):
            if index < len(given):
                taken.append(parameter.codec.from_json(given[index]))
            elif parameter.is_required:
                raise missing_argument(index, len(given))
            else:
                taken.append(parameter.default)
        return taken


def _answering(function: Callable[..., object]) -> Answering:
    if inspect.isasyncgenfunction(function):
        return Answering.REPEATEDLY
    return Answering.LATER if inspect.iscoroutinefunction(function) else Answering.AT_ONCE


def deferral_of(function: Callable[..., object]) -> str:
    """Why a call of a function returns before anything of it has run; empty if it runs at once."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return "asynchronous"
    return "a generator" if inspect.isgeneratorfunction(function) else ""


class Api:
    """A named group of methods: those of one plugin."""

    def __init__(self, name: str, summary: str, *, former_name: str = "") -> None:
        self.name = name
        self.summary = summary
        self.former_name = former_name
        self.records: dict[str, Json] = {}
        """Schemas that method objects of other processes refer to."""
        self._methods: dict[str, Method] = {}

    def method(
        self,
        *,
        args: Count = UNCOUNTED,
        cached: bool = True,
        weighed: bool = True,
        aliases: Sequence[str] = (),
        examples: Sequence[Sequence[Json]] = (),
    ) -> Callable[[Function], Function]:
        """Answers of functions are cached until the next block; `cached=False` if they depend on more than the head."""

        def declare(function: Function) -> Function:
            for name in (function.__name__, *aliases):
                method = Method(self.name, name, function, args)
                method.is_cached &= cached
                method.is_weighed = weighed
                method.examples = examples
                method.alias_of = "" if name == function.__name__ else function.__name__
                self._methods[name] = method
            return function

        return declare

    def __iter__(self) -> Iterator[Method]:
        return iter(self._methods.values())

    def find(self, name: str) -> Method | None:
        return self._methods.get(name)
