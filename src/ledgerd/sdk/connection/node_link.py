"""One node: requests to it, and whatever it answers as a value or a `CallFailed`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Protocol

import orjson

from ledgerd.basics.failures import reason_of
from ledgerd.basics.printable import printable
from ledgerd.client.address import SECURE_SOCKET, SECURE_WEB, SOCKET, WEB, NodeAddress, read_address
from ledgerd.client.envelope import (
    ErrorAnswer,
    NodeCall,
    NotAnAnswer,
    batch_of,
    packed,
    request_of,
    result_of,
    results_in,
)
from ledgerd.client.exchange import HttpAnswer, HttpFault, Unanswered
from ledgerd.client.pool import HttpPool, Unreached
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import OperatorError
from ledgerd.sdk.connection.error_answers import error_of
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.order import LinkHealth
from ledgerd.sdk.errors import ClientError, NodeUnavailable, TimedOut, WrongAnswer

BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT})
SERVER_ERRORS = 500
MOST_REASON = 100


class CallFailed(Exception):
    """A node did not answer, or with what is no answer."""

    def __init__(self, error: ClientError, *, was_sent: bool = True) -> None:
        super().__init__(str(error))
        self.error = error
        self.was_sent = was_sent
        """Whether it may have come to the node."""


class Transport(Protocol):
    """Carries bytes to a node and back."""

    async def post(self, body: bytes, most: int, *, is_repeatable: bool = True) -> HttpAnswer: ...

    def close(self) -> None: ...


class NodeLink:
    """A node, by its address."""

    def __init__(self, url: str, limits: ClientLimits) -> None:
        try:
            self.address = read_address(url, (WEB, SECURE_WEB, SOCKET, SECURE_SOCKET))
        except OperatorError as problem:
            raise ClientError(str(problem)) from None
        self.url = url
        self.name = name_of_node(self.address)
        self.health = LinkHealth()
        self.refusal: ClientError | None = None
        """Why it failed last."""
        self._limits = limits
        self._transport = _transport(url, self.address, limits)

    async def ask(self, calls: Sequence[NodeCall], *, repeatable: bool = True) -> Sequence[Any]:
        """The result of each call, or a `NodeError` where the node refuses it. `CallFailed`: there is no answer.

        Reads go as batches, also a single one: the reference stores answers, and what it changes of a stored one for
        the next who asks garbles some texts (spec 05, section 3); those of batches it hands out as they are. For the
        same reason what is not repeatable goes by itself: a batch that was sent before would not be carried out.
        """
        try:
            async with asyncio.timeout(self._limits.call_seconds):
                if repeatable:
                    body = _body(lambda: batch_of(calls), calls)
                    answer = await self._transport.post(body, self._limits.largest_answer)
                    return [_read(each, call) for each, call in zip(self._batch(answer, calls), calls, strict=True)]
                (call,) = calls
                body = _body(lambda: packed(request_of(0, call)), calls)
                answer = await self._transport.post(body, self._limits.largest_answer, is_repeatable=False)
                return [self._single(answer, call)]
        except TimeoutError:
            seconds = self._limits.call_seconds
            raise CallFailed(TimedOut(f"{self.name} does not answer within {seconds:g} s")) from None
        except Unreached as problem:
            raise self._away(reason_of(problem), was_sent=False) from None
        except Unanswered as problem:
            raise self._away(str(problem)) from None
        except HttpFault as problem:
            raise CallFailed(WrongAnswer(f"{self.name}: {problem}")) from None
        except OSError as problem:
            raise self._away(reason_of(problem)) from None

    def close(self) -> None:
        self._transport.close()

    def _away(self, why: str, *, was_sent: bool = True) -> CallFailed:
        return CallFailed(NodeUnavailable(f"{self.name}: {printable(why)}"), was_sent=was_sent)

    def _batch(self, answer: HttpAnswer, calls: Sequence[NodeCall]) -> Sequence[Any]:
        found = self._json(answer)
        try:
            return results_in(found, len(calls))
        except NotAnAnswer:
            raise CallFailed(WrongAnswer(f"{self.name} answers what is no answer to a batch")) from None
        except ErrorAnswer as error:
            return [error] * len(calls)

    def _single(self, answer: HttpAnswer, call: NodeCall) -> object:
        found = self._json(answer)
        try:
            return result_of(found, 0)
        except NotAnAnswer:
            raise CallFailed(WrongAnswer(f"{self.name} answers what is no answer")) from None
        except ErrorAnswer as error:
            return _read(error, call)

    def _json(self, answer: HttpAnswer) -> Json:
        status = answer.status
        if status in BUSY or status >= SERVER_ERRORS:
            raise self._away(f"it answers {status} {answer.reason}"[:MOST_REASON])
        try:
            return json_of(answer.body)
        except (ValueError, RecursionError):
            what = "a page" if answer.body.lstrip().startswith(b"<") else "what is no JSON"
            shown = "" if status == HTTPStatus.OK else f" ({status})"
            raise CallFailed(WrongAnswer(f"{self.name} answers {what}{shown}")) from None


def name_of_node(address: NodeAddress) -> str:
    """An address as errors show it: what follows the host may be a secret of whoever asks."""
    port = "" if address.given_port is None else f":{address.given_port}"
    return f"{address.scheme}://{address.host}{port}"


def json_of(raw: bytes) -> Json:
    """JSON of a node. Texts of the chain need not be UTF-8, and keep their bytes as surrogate escapes, as codecs do."""
    try:
        found: Json = orjson.loads(raw)
    except orjson.JSONDecodeError:
        found = json.loads(raw.decode("utf-8", "surrogateescape"))
    return found


def _body(make: Callable[[], bytes], calls: Sequence[NodeCall]) -> bytes:
    try:
        return make()
    except TypeError as problem:
        names = ", ".join(dict.fromkeys(f"{each.api}.{each.method}" for each in calls))
        raise ClientError(f"{names}: a parameter has no form in JSON: {problem}") from None


def _read(answer: object, call: NodeCall) -> object:
    if not isinstance(answer, ErrorAnswer):
        return answer
    fields = {"message": answer.message, "data": answer.data, "code": answer.code}
    return error_of(fields, f"{call.api}.{call.method}")


def _transport(url: str, address: NodeAddress, limits: ClientLimits) -> Transport:
    if address.scheme in (SOCKET, SECURE_SOCKET):
        from ledgerd.sdk.connection.web_socket import SocketPool  # noqa: PLC0415 - not loaded where HTTP is spoken

        return SocketPool(url, limits)
    return HttpPool(address, limits.at_once, limits.at_once, limits.connect_seconds)
