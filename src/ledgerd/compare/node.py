"""One of the nodes that are compared: its JSON-RPC over HTTP, bounded in size, time and rate."""

from __future__ import annotations

import itertools
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import NamedTuple

from ledgerd.basics.closing import Closing
from ledgerd.basics.printable import printable
from ledgerd.client.address import read_address
from ledgerd.client.blocking import Deadline, HttpClient
from ledgerd.client.envelope import MISSING, NodeCall, request_of
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import OperatorError

SECONDS = 30.0
"""The longest time of one request, from the connection to the last byte of its answer."""

TIMEOUT = 3_600.0
"""Seconds that all answers of one node may be waited for in a comparison: a hundred times what is usual."""

LONGEST_ANSWER = 16 << 20
"""Bytes of an answer. The largest page of accounts has a tenth of it."""

SHOWN = 200
"""Characters of a foreign text that are printed."""


class NotComparable(OperatorError):
    """One of the nodes does not answer, answers with nonsense, or they are of different chains."""


class NobodyListens(NotComparable):
    """The machine of a node answers, and says that nothing listens there: the node is stopped."""


class Pace:
    """Spreads requests evenly over time."""

    def __init__(
        self,
        each_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1.0 / each_second
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    def wait(self) -> None:
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._interval


class NodeAnswer(NamedTuple):
    """A result or an error."""

    value: Json
    """The result; nothing if there is an error."""
    error: str = ""
    """The message of the error."""
    size: int = 0
    """Characters that it had on its way, where that is known."""

    @property
    def is_missing(self) -> bool:
        return MISSING in self.error


class AnsweringNode(ABC):
    """A node, however it is asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests = 0

    @abstractmethod
    def ask(self, api: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
        """The answer to one request. `NotComparable`: there is none, or it is no JSON-RPC."""

    def value(self, api: str, method: str, *arguments: object) -> Json:
        """A result, parsed; an error is one of the node."""
        return self.result(api, method, self.ask(api, method, arguments))

    def result(self, api: str, method: str, answer: NodeAnswer) -> Json:
        if answer.error:
            raise self.fault(f"answers {api}.{method} with an error: {answer.error[:SHOWN]}")
        return answer.value

    def fault(self, what: str) -> NotComparable:
        return NotComparable(printable(f"{self.url} {what}"))


class ComparedNode(AnsweringNode, Closing):
    """A node at an address."""

    def __init__(self, url: str, pace: Pace, timeout: float = math.inf) -> None:
        super().__init__(url)
        self._pace = pace
        self._seconds_left = timeout
        try:
            self._client = HttpClient(read_address(url))
        except OperatorError as problem:
            raise NotComparable(str(problem)) from None
        self._ids = itertools.count(1)
        self.is_listening = False
        """Whether somebody has taken the connection for the last request, whatever was answered."""

    def ask(self, api: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
        self._pace.wait()
        self.requests += 1
        number = next(self._ids)
        request = request_of(number, NodeCall(api, method, tuple(arguments)))
        # Texts of the chain need not be UTF-8: what is not stays as it is, so that it can be compared.
        began = time.monotonic()
        body = self._answered(json.dumps(request).encode()).decode("utf-8", "surrogateescape")
        self._seconds_left -= time.monotonic() - began
        if self._seconds_left < 0:
            raise self.fault(f"answers too slowly: {self.requests:,} requests have used up the time of a comparison")
        try:
            envelope = json.loads(body)
        except (ValueError, RecursionError) as problem:
            raise self.fault(f"answers {api}.{method} with something that is not JSON") from problem
        is_nameless_error = isinstance(envelope, dict) and "error" in envelope and envelope.get("id") is None
        if isinstance(envelope, dict) and envelope.get("id") != number and not is_nameless_error:
            self._client.close()  # what else is on its way is of no request of ours either
            raise self.fault(f"answers {api}.{method} with the answer to another request")
        if isinstance(envelope, dict) and isinstance(failure := envelope.get("error"), dict):
            return NodeAnswer(None, str(failure.get("message", "")).strip() or "an error without a message")
        if not isinstance(envelope, dict) or "result" not in envelope:
            raise self.fault(f"answers {api}.{method} with neither a result nor an error")
        return NodeAnswer(envelope["result"], size=len(body))

    def _answered(self, body: bytes) -> bytes:
        """The body of the answer; a connection that was closed between two requests is opened again."""
        self.is_listening = False
        try:
            self._client.connect(Deadline(SECONDS))
            self.is_listening = True
            status, reason, answer = self._client.post(body, SECONDS, LONGEST_ANSWER, is_repeatable=True)
        except ConnectionRefusedError as problem:
            raise NobodyListens(f"{self.url} gives no answer: {problem}") from problem
        except OSError as problem:
            raise self.fault(f"gives no answer: {problem or type(problem).__name__}") from problem
        is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
        if is_redirect or (status != HTTPStatus.OK and not answer.startswith(b"{")):
            raise self.fault(f"answers with HTTP status {status} {reason[:SHOWN]}")
        return answer

    def close(self) -> None:
        self._client.close()
