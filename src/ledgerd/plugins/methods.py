"""The methods of an API plugin: how they are described, and how one is called with the arguments of a client."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, get_type_hints

import msgspec

from ledgerd.plugins.declarations import ApiPlugin, PluginError, PluginRefused
from ledgerd.plugins.installed import text_of_failure
from ledgerd.plugins.messages import MOST_DESCRIPTION, MethodDescription, PluginDescription
from ledgerd.plugins.values import ReadView
from ledgerd.rpc.call.errors import INVALID_PARAMETERS


class PluginParameter(msgspec.Struct, frozen=True):
    """An argument after the view."""

    name: str
    kind: Any
    is_required: bool


class TypedMethod:
    """A method with the types of its arguments and of its result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = get_type_hints(function, include_extras=True)
        self.name = function.__name__
        self.function = function
        self.result = hints["return"]
        declared = [*inspect.signature(function).parameters.values()][1:]
        self.parameters = tuple(
            PluginParameter(each.name, hints[each.name], each.default is each.empty) for each in declared
        )

    def __call__(self, view: ReadView, given: Sequence[msgspec.Raw]) -> object:
        if len(given) > len(self.parameters):
            raise PluginError(INVALID_PARAMETERS, f"{len(given)} arguments, and {len(self.parameters)} are the most")
        arguments = []
        for place, (parameter, raw) in enumerate(zip_longest(self.parameters, given)):
            if raw is None:
                if parameter.is_required:
                    raise PluginError(INVALID_PARAMETERS, f"params[{place}], {parameter.name}, is missing")
                break
            try:
                arguments.append(msgspec.json.decode(raw, type=parameter.kind))
            except msgspec.MsgspecError as fault:
                raise PluginError(INVALID_PARAMETERS, f"params[{place}], {parameter.name}: {fault}") from None
        return self.function(view, *arguments)


def methods_of(plugin: ApiPlugin) -> dict[str, TypedMethod]:
    """`PluginRefused`: a type is none that is known."""
    try:
        return {name: TypedMethod(function) for name, function in plugin.methods.items()}
    except Exception as problem:  # the types of a plugin can raise anything
        raise PluginRefused(f"its methods have types that are not known: {text_of_failure(problem)}") from problem


def description_of(name: str, plugin: ApiPlugin, methods: Iterable[TypedMethod]) -> PluginDescription:
    """The description of an API. `PluginRefused`: its types have none, or the description is too large."""
    methods = [*methods]
    kinds = [kind for each in methods for kind in (*(one.kind for one in each.parameters), each.result)]
    try:
        schemas, records = msgspec.json.schema_components(
            kinds, schema_hook=_any_json, ref_template=f"#/components/schemas/{name}.{{name}}"
        )
    except (TypeError, ValueError, NotImplementedError) as problem:
        raise PluginRefused(f"its types cannot be described: {text_of_failure(problem)}") from problem
    places = iter(schemas)
    described = tuple(MethodDescription(each.name, _method_object(name, each, places)) for each in methods)
    named = {f"{name}.{title}": schema for title, schema in records.items()}
    note = PluginDescription(plugin.summary, described, named)
    if len(msgspec.json.encode(note)) > MOST_DESCRIPTION:
        raise PluginRefused(f"its description has more than {MOST_DESCRIPTION} bytes")
    return note


def _any_json(kind: type) -> dict[str, object]:
    if kind in {object, msgspec.Raw}:
        return {"description": "any JSON"}
    raise NotImplementedError


def _method_object(api: str, method: TypedMethod, schemas: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schemas
    first, _, rest = (inspect.getdoc(method.function) or "").partition("\n\n")
    described: dict[str, Any] = {
        "name": f"{api}.{method.name}",
        "tags": [{"name": api}],
        "summary": " ".join(first.split()),
        "paramStructure": "by-position",
        "params": [
            {"name": each.name, "required": each.is_required, "schema": next(schemas)} for each in method.parameters
        ],
        "result": {"name": "result", "schema": next(schemas)},
    }
    if rest:
        described["description"] = " ".join(rest.split())
    return described
