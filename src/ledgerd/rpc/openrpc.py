"""The OpenRPC document: every method with its types and examples, written from the declarations."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from ledgerd.codec.json_text import Json
from ledgerd.rpc.declarations import Answering, Api, Method, Parameter
from ledgerd.rpc.schemas import Schema, Schemas

OPENRPC = "1.3.2"
"""The version of the specification that the document keeps to."""

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


def document_of(apis: Iterable[Api]) -> Schema:
    """The document of what a node offers."""
    schemas = Schemas()
    methods: list[Json] = [method_object(method, schemas) for api in apis for method in api]
    return {
        "openrpc": OPENRPC,
        "info": {"title": "ledgerd", "version": version(PLUGIN), "description": ABOUT},
        "methods": methods,
        "components": {"schemas": dict(sorted(schemas.records.items()))},
    }


def name_of(parameter: Parameter) -> str:
    """The name as clients know it, where it is a word that Python keeps for itself."""
    return parameter.name.rstrip("_")


def words_of(method: Method) -> tuple[str, str]:
    """The first paragraph of what is said about a method, and the rest."""
    first, _, rest = method.summary.partition("\n\n")
    older = f"The older name of `{method.alias_of}`." if method.alias_of else ""
    more = [" ".join(rest.split()), WHEN[method.answering], older]
    return " ".join(first.split()), " ".join(each for each in more if each)


def method_object(method: Method, schemas: Schemas) -> Schema:
    """One method."""
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
    if method.examples:
        described["examples"] = [example(method, number) for number in range(len(method.examples))]
    return described


def example(method: Method, number: int) -> Schema:
    """Arguments that a method takes."""
    named = zip(method.parameters, method.examples[number], strict=False)
    params: list[Json] = [{"name": name_of(parameter), "value": value} for parameter, value in named]
    return {"name": f"{method.name} {number + 1}", "params": params}
