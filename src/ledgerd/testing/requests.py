"""Requests to the node of a test, over HTTP as from any client, each of which is waited for."""

from __future__ import annotations

import threading
from typing import Any

from ledgerd.basics.closing import Closing
from ledgerd.client.address import read_address
from ledgerd.client.blocking import HttpClient
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, packed, parsed, request_of, result_of
from ledgerd.testing.errors import NodeFailed, RequestRefused

CALL_SECONDS = 300.0
"""A hundred thousand blocks take two minutes."""
MOST_BYTES = 256 << 20
UNREACHABLE = "The node cannot be reached"
"""The message with which the process that answers requests says that the chain's process has ended, or does
not answer.
"""


class Requests(Closing):
    """Sends requests to one node, from any thread, one after the other."""

    def __init__(self, url: str) -> None:
        self._client = HttpClient(read_address(url))
        self._turn = threading.Lock()

    def call(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON, whose form the caller knows
        """The result of a request. `RequestRefused`: the answer is an error; `NodeFailed`: there is none."""
        body = packed(request_of(0, NodeCall(api, method, arguments)))
        try:
            with self._turn:
                answer = self._client.post(body, CALL_SECONDS, MOST_BYTES)
            return result_of(parsed(answer.body), 0)
        except ErrorAnswer as error:
            if error.message.startswith(UNREACHABLE):
                raise NodeFailed(f"{api}.{method}: {error.message}") from None
            raise RequestRefused(error.message, error.data, error.code) from None
        except (OSError, NotAnAnswer) as problem:
            raise NodeFailed(f"{api}.{method} was not answered: {problem or type(problem).__name__}") from problem

    def close(self) -> None:
        self._client.close()
