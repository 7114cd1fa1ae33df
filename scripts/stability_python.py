"""The public names of Python for `docs/stability/`: which there are, and how each is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, TypeAlias

Entry: TypeAlias = dict[str, Any]

HANDED_ON = ("ledgerd.sdk", "ledgerd.testing", "ledgerd.app", "ledgerd.plugins")
"""Packages for programs of others: what their `__all__` has is public."""

WHOLE = (
    "ledgerd.sdk.api",
    "ledgerd.sdk.calling",
    "ledgerd.sdk.errors",
    "ledgerd.sdk.streams.errors",
    "ledgerd.sdk.streams.events",
    "ledgerd.sdk.transactions.errors",
    "ledgerd.testing.errors",
)
"""Modules and packages of which everything is public."""

NAMED = (
    "ledgerd.sdk.streams.stream:ChainStream",
    "ledgerd.sdk.transactions.builder:TransactionBuilder",
    "ledgerd.sdk.transactions.sent:SentTransaction",
    "ledgerd.testing.accounts:KeyedAccount",
    "ledgerd.testing.chain:DevChain",
    "ledgerd.testing.fork:Fork",
    "ledgerd.testing.markets:Market",
    "ledgerd.testing.plugin:chain",
    "ledgerd.testing.plugin:fork",
    "ledgerd.testing.plugin:session_chain",
)
"""What those give to a program, and the fixtures of pytest, whose own parameters are pytest's business."""
FIXTURES = "ledgerd.testing.plugin."

STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

DECODES = "from_json"
"""How the client makes a record of an answer; programs get records."""


def public_names() -> dict[str, Entry]:
    """Every public class, method and function, by its full name."""
    return {name: entry for place, value in sorted(_public().items()) for name, entry in entries_of(place, value)}


def _public() -> dict[str, object]:
    found: dict[str, object] = {}
    for package in HANDED_ON:
        module = import_module(package)
        found |= {f"{package}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    for place in WHOLE:
        for module in _with_inner(import_module(place)):
            found |= {f"{module.__name__}.{name}": value for name, value in defined_in(module)}
    for place in NAMED:
        module_name, _, name = place.partition(":")
        found[f"{module_name}.{name}"] = getattr(import_module(module_name), name)
    return found


def _with_inner(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for each in walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield import_module(each.name)


def defined_in(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The classes and functions that a module defines for others."""
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", "") == module.__name__
        if not name.startswith("_") and is_own and (inspect.isclass(value) or inspect.isroutine(value)):
            yield name, value


def entries_of(place: str, value: object) -> Iterator[tuple[str, Entry]]:
    """A function; a class with what may be called and read of it; or a constant or an alias of a type."""
    if not callable(value):
        yield place, {"is": value if isinstance(value, str) else "a name for a type"}
        return
    if not inspect.isclass(value):
        entry = called(value)
        yield place, {"returns": entry["returns"]} if place.startswith(FIXTURES) else entry
        return
    yield place, _class(value, is_made_by_programs=place.rpartition(".")[0] in HANDED_ON)
    for name, member in inspect.getmembers_static(value):
        if not name.startswith("_") and name != DECODES and (found := _member(member)) is not None:
            yield f"{place}.{name}", found


def _class(value: type[Any], *, is_made_by_programs: bool) -> Entry:
    bases = [each for each in value.__mro__[1:] if _is_ours(each) or issubclass(each, Exception)]
    entry: Entry = {"bases": [each.__name__ for each in bases]}
    if issubclass(value, Enum):
        return {**entry, "values": [each.name for each in value]}
    if fields := getattr(value, "__struct_fields__", getattr(value, "_fields", ())):
        types = {name: of for each in reversed(value.__mro__) for name, of in inspect.get_annotations(each).items()}
        return {**entry, "fields": {name: _name(types[name]) for name in fields}}
    return {**entry, **called(value)} if is_made_by_programs else entry


def _member(member: object) -> Entry | None:
    """A method or a property of ours; fields stand with the parameters of the class."""
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if inspect.isfunction(member):
        return called(member, is_method=True) if _is_ours(member) else None
    getter: Any = getattr(member, "fget", None) or getattr(member, "func", None)
    return {"read": _name(inspect.signature(getter).return_annotation)} if _is_ours(getter) else None


def _is_ours(value: object) -> bool:
    return getattr(value, "__module__", "").startswith("ledgerd.")


def called(value: Any, *, is_method: bool = False) -> Entry:  # noqa: ANN401 - whatever can be called
    """How something is called: parameters in their order, and those that are always named."""
    signature = inspect.signature(value)
    given = [each for each in signature.parameters.values() if not each.name.startswith("_")]
    if is_method and given and given[0].name in {"self", "cls"}:
        given = given[1:]
    named = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    entry: Entry = {
        "parameters": [_shown(each) for each in given if each.kind not in named],
        "keywords": [_shown(each) for each in given if each.kind in named],
    }
    if not inspect.isclass(value):
        entry["returns"] = _name(signature.return_annotation)
    return entry


def _shown(parameter: inspect.Parameter) -> str:
    stars = STARS.get(parameter.kind, "")
    text = f"{stars}{parameter.name}: {_name(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return text
    is_plain = isinstance(parameter.default, str | int | float | bool | bytes | tuple | None)
    return f"{text} = {parameter.default!r}" if is_plain else f"{text} = ..."


def _name(annotation: object) -> str:
    """A type as the source has it."""
    text = getattr(annotation, "__forward_arg__", annotation)
    return "any" if annotation is inspect.Parameter.empty else str(text)
