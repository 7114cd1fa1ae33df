"""The envelope of a request and its answer (spec 05, section 5): method, arguments and id."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.codec.errors import PARSE_ERROR
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import as_array, as_string
from ledgerd.codec.json.text import Json, dumps, text_bytes
from ledgerd.rpc.call.errors import INVALID_REQUEST, NO_PARAMETERS, ErrorObject, PlainError, Unresolved

VERSION = "2.0"
NO_ID = "null"

RECOVERING = (
    b'{"jsonrpc":"2.0","error":{"code":-32003,"message":"Node is recovering from shared memory corruption, '
    b'please retry later"},"id":null}'
)
"""The answer to every request while the state is being opened or rebuilt (spec 05, section 22.1)."""


class Call(NamedTuple):
    """A method by the names of API and method, and its arguments, which are not checked yet."""

    api: str
    method: str
    arguments: Json


def identifier(request: dict[str, Json]) -> str:
    if "id" not in request:
        return NO_ID
    value = request["id"]
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise JsonError(PARSE_ERROR, 'Only integer value or string is allowed for member "id"')
    return dumps(value)


def call_of(request: dict[str, Json]) -> Call:
    if "jsonrpc" not in request or as_string(request["jsonrpc"]) != VERSION:
        raise PlainError('jsonrpc value is not "2.0"', INVALID_REQUEST)
    if "method" not in request:
        raise PlainError('A member "method" does not exist', INVALID_REQUEST)
    name = as_string(request["method"])
    return _spelled_call(request) if name == "call" else _dotted_call(name, request)


def _spelled_call(request: dict[str, Json]) -> Call:
    if "params" not in request:
        raise PlainError('A member "params" does not exist', NO_PARAMETERS)
    parameters = request["params"]
    if not isinstance(parameters, list) or len(parameters) not in {2, 3}:
        raise Unresolved('v.size() == 2 || v.size() == 3: params should be {"api", "method", "args"')
    # With two elements the arguments are an empty object, which is no array: it is refused, as by the reference.
    arguments = parameters[2] if len(parameters) == 3 else {}
    return Call(as_string(parameters[0]), as_string(parameters[1]), arguments)


def _dotted_call(name: str, request: dict[str, Json]) -> Call:
    """`api.method`, with positional parameters or none. The reference refuses this form."""
    parts = name.split(".")
    if len(parts) != 2:
        raise Unresolved("v.size() == 2: method specification invalid. Should be api.method")
    return Call(parts[0], parts[1], request.get("params", []))


def argument_list(call: Call) -> list[Json]:
    return as_array(call.arguments)


def result_opening(result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","result":%b,"id":' % result


def error_answer(fault: ErrorObject, identity: str) -> bytes:
    return text_bytes(f'{{"jsonrpc":"2.0","error":{fault.text},"id":{identity}}}')
