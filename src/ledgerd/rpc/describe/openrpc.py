"""The OpenRPC document: every method with its types and examples, written from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.declarations import Answering, Api, Method, Parameter
from ledgerd.rpc.describe.schemas import Schema, Schemas

OPENRPC = "1.3.2"

PLUGIN = "ledgerd"

ABOUT = (
    "The VIZ Ledger over JSON-RPC 2.0, by POST or WebSocket. Parameters stand in an array, in their order. A method "
    'may be called by its dotted name, or as `"method": "call"` with the API, the method and the array of arguments '
    "as its parameters. Integers above 4294967295 are printed as texts."
)

WHEN = {
    Answering.AT_ONCE: "",
    Answering.LATER: "The answer comes when the main process has given it.",
    Answering.REPEATEDLY: "Answers again and again on a WebSocket, under the id of the request; over HTTP once.",
}


class Recorded(msgspec.Struct, frozen=True):
    """A recorded request to the reference, and its result."""

    method: str
    chain: str
    """The recorded chain of `tests/vectors`; empty if the result does not depend on the state."""
    height: int
    params: list[msgspec.Raw]
    result: msgspec.Raw


@cache
def recorded_examples() -> dict[str, Recorded]:
    raw = files("ledgerd.rpc.describe").joinpath("recorded_examples.json").read_bytes()
    return {each.method: each for each in msgspec.json.decode(raw, type=list[Recorded])}


@cache
def released() -> str:
    """The version of this program."""
    from importlib.metadata import version  # noqa: PLC0415 - it loads much, and a node can start without it

    return version(PLUGIN)


def document_of(apis: Iterable[Api]) -> Schema:
    schemas, apis = Schemas(), tuple(apis)
    methods: list[Json] = [each.described or method_object(each, schemas) for api in apis for each in api]
    records: Schema = dict(schemas.records)
    for api in apis:
        records |= api.records
    return {
        "openrpc": OPENRPC,
        "info": {"title": "ledgerd", "version": released(), "description": ABOUT},
        "methods": methods,
        "components": {"schemas": dict(sorted(records.items()))},
    }


def name_of(parameter: Parameter) -> str:
    return parameter.name.rstrip("_")


def words_of(method: Method) -> tuple[str, str]:
    first, _, rest = method.summary.partition("\n\n")
    older = f"The older name of `{method.alias_of}`." if method.alias_of else ""
    more = [" ".join(rest.split()), WHEN[method.answering], older]
    return " ".join(first.split()), " ".join(each for each in more if each)


def method_object(method: Method, schemas: Schemas) -> Schema:
    summary, description = words_of(method)
    params: list[Json] = [
        {"name": name_of(each), "required": each.is_required, "schema": schemas.of(each.codec.kind)}
        for each in method.parameters
    ]
    described: Schema = {
        "name": f"{method.api}.{method.name}",
        "tags": [{"name": method.api}],
        "summary": summary,
        "paramStructure": "by-position",
        "params": params,
        "result": {"name": "result", "schema": schemas.of(method.codec.kind)},
    }
    if description:
        described["description"] = description
    if method.alias_of:
        described["deprecated"] = True
    if examples := examples_of(method):
        described["examples"] = examples
    return described


def examples_of(method: Method) -> list[Json]:
    recorded = recorded_examples().get(f"{method.api}.{method.alias_of or method.name}")
    if recorded is None:
        return [example(method, number, given) for number, given in enumerate(method.examples, 1)]
    shown = example(method, 1, [parsed(each) for each in recorded.params])
    shown["result"] = {"name": "result", "value": parsed(recorded.result)}
    if recorded.chain:
        shown["description"] = (
            f"Recorded from a node of the reference on a private network, {recorded.chain}, at block {recorded.height}."
        )
    return [shown]


def parsed(text: msgspec.Raw) -> Json:
    value: Json = msgspec.json.decode(text)
    return value


def example(method: Method, number: int, given: Sequence[Json]) -> Schema:
    named = zip(method.parameters, given, strict=False)
    params: list[Json] = [{"name": name_of(parameter), "value": value} for parameter, value in named]
    return {"name": f"{method.name} {number}", "params": params}
