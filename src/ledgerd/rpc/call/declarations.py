"""How an API module says what its methods are: a function with annotated parameters is the whole declaration.

`openrpc.json` and the documents are written from what is recorded here, so nothing about a method is said twice.

    DATABASE = Api("database_api", "The ledger as it stands.")

    @DATABASE.method(args=exactly(1), examples=[[1]])
    def get_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
        '''The header of a block.'''

A function answers at once, from the state. A coroutine, which is given the `Node`, answers when it is done. An
asynchronous generator answers again and again: to each WebSocket client until it leaves, over HTTP once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Annotated, TypeVar, get_args, get_type_hints

import msgspec

from ledgerd.codec import Codec, codec_of
from ledgerd.codec.json_text import Json, dumps
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.rpc.call.counts import UNCOUNTED, Count
from ledgerd.rpc.call.errors import missing_argument

Function = TypeVar("Function", bound=Callable[..., object])


class AnyJson(Kind):
    """A value that is passed on as it came, or printed as it is."""

    title = "any JSON"

    def text(self, source: Source, value: str) -> str:
        """Its own text."""
        return f"{source.bind(dumps)}({value})"

    def parse(self, value: object) -> object:
        """Itself."""
        return value

    def default(self) -> None:
        """Null."""


Whatever = Annotated[object, AnyJson()]
"""An argument of any type, or a result that is put together as plain JSON."""


class Nothing(msgspec.Struct, frozen=True):
    """A result that says only that there was no error: `{}`."""


class Answering(Enum):
    """When a method answers."""

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
        """Its type, compiled when it is first met."""
        return codec_of(self.annotation)


class Method:
    """One method of an API: what it takes, what it answers, and when."""

    def __init__(self, api: str, name: str, function: Callable[..., object], count: Count) -> None:
        self.api = api
        self.name = name
        self.function = function
        self.count = count
        self.summary = inspect.getdoc(function) or ""
        self.answering = _answering(function)
        self.is_cached = self.answering is Answering.AT_ONCE
        self.is_weighed = True
        """Whether the entries of its arguments are counted; those of a whole block are bounded where it is judged."""
        self.examples: Sequence[Sequence[Json]] = ()
        self.alias_of = ""

    @cached_property
    def _hints(self) -> dict[str, object]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments in their order; what the node hands in is none of them."""
        declared = list(inspect.signature(self.function).parameters.values())[1:]
        return tuple(Parameter(each, self._hints[each.name]) for each in declared)

    @cached_property
    def result(self) -> object:
        """The annotation of what it answers; of one that answers again and again, of each answer."""
        declared = self._hints["return"]
        return get_args(declared)[0] if self.answering is Answering.REPEATEDLY else declared

    @cached_property
    def codec(self) -> Codec[object]:
        """The type of the result, compiled when it is first met."""
        return codec_of(self.result)

    def arguments(self, given: list[Json]) -> list[object]:
        """The arguments as the function takes them; each is read in its turn, and the first fault wins."""
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


class Api:
    """A named group of methods: what one plugin of the node offers."""

    def __init__(self, name: str, summary: str, *, former_name: str = "") -> None:
        self.name = name
        self.summary = summary
        self.former_name = former_name
        """What published clients still call it."""
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
        """Declare a method by its function, whose name it has.

        Answers that are given at once are kept until the next block; `cached=False` says that more than the head
        decides over them.
        """

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
        """The method of a name."""
        return self._methods.get(name)
