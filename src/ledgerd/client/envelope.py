"""The envelope of JSON-RPC 2.0 from the side of who asks: requests as bytes, and what an answer says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from ledgerd.codec.json.text import Json

MISSING = "Could not find "
"""The beginning of the message with which nodes say that they lack an API or a method (spec 05, section 4)."""


class NodeCall(NamedTuple):
    """A request: a method and its arguments."""

    api: str
    method: str
    arguments: tuple[object, ...] = ()


class NotAnAnswer(Exception):
    """The received text is not the answer to the request."""


class ErrorAnswer(Exception):
    """The node answers with an error."""

    def __init__(self, message: str, data: object = None, code: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        self.code = code

    @property
    def is_missing(self) -> bool:
        return MISSING in self.message


def request_of(number: int, call: NodeCall) -> dict[str, object]:
    params = [call.api, call.method, list(call.arguments)]
    return {"jsonrpc": "2.0", "id": number, "method": "call", "params": params}


def batch_of(calls: Sequence[NodeCall]) -> bytes:
    """Requests with the numbers from 0 on."""
    return packed([request_of(number, call) for number, call in enumerate(calls)])


def packed(request: object) -> bytes:
    return orjson.dumps(request)


def parsed(raw: bytes) -> Json:
    """The JSON of an answer. Texts of the chain need not be UTF-8: what is not is replaced. `NotAnAnswer`: it is no
    JSON.
    """
    try:
        found: Json = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            found = orjson.loads(raw.decode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            raise NotAnAnswer from None
    return found


def result_of(answer: Json, number: int) -> Any:  # noqa: ANN401 - JSON, of which who asks knows the form
    """The result in an answer to the request with a number. `NotAnAnswer`: it answers something else, or nothing."""
    if not isinstance(answer, dict) or answer.get("id") != number:
        raise NotAnAnswer
    error = answer.get("error")
    if error is None and "result" in answer:
        return answer["result"]
    if not isinstance(error, dict):
        raise NotAnAnswer
    raise ErrorAnswer(str(error.get("message", "")), error.get("data"), error.get("code"))


def results_of(raw: bytes, count: int) -> Sequence[Any]:
    return results_in(parsed(raw), count)


def results_in(answers: Json, count: int) -> Sequence[Any]:
    """The results of a batch whose requests have the numbers from 0 on; an error stands for its own. `NotAnAnswer`: it
    is no batch of as many answers.
    """
    if isinstance(answers, dict):
        result_of(answers | {"id": 0}, 0)  # one error for all: the node starts, or the batch is too large
    if not isinstance(answers, list) or len(answers) != count:
        raise NotAnAnswer
    by_number = {each.get("id"): each for each in answers if isinstance(each, dict)}
    found: list[Any] = []
    for number in range(count):
        try:
            found.append(result_of(by_number.get(number), number))
        except ErrorAnswer as error:
            found.append(error)
    return found
