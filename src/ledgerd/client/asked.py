"""A node that is asked one thing after the other by a program that waits, with the exact texts of its answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from ledgerd.basics.printable import printable
from ledgerd.client.address import read_address
from ledgerd.client.blocking import HttpClient
from ledgerd.client.envelope import NodeCall, request_of
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import OperatorError

SECONDS = 30.0
"""The longest time from a request to the end of its answer."""
LONGEST_ANSWER = 64 << 20
"""The most bytes of an answer."""

DATABASE = "database_api"


class NodeSilent(OperatorError):
    """The node gives no answer, or none that is JSON."""


class AskedNode:
    """A node at an address."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = HttpClient(read_address(url))

    def ask(self, api: str, method: str, arguments: Sequence[Json]) -> Json:
        """The whole answer to a request, parsed."""
        text = self.exact(request_of(1, NodeCall(api, method, tuple(arguments))))
        try:
            found: Json = json.loads(text)
        except (ValueError, RecursionError):
            raise NodeSilent(f"{self.url} answers {api}.{method} with something that is not JSON") from None
        return found

    def exact(self, request: dict[str, object]) -> str:
        """The text of the answer. What of it is not UTF-8 stays as it is, in surrogates."""
        body = json.dumps(request).encode()
        try:
            status, _, answer = self._client.post(body, SECONDS, LONGEST_ANSWER, is_repeatable=True)
        except OSError as problem:
            raise NodeSilent(printable(f"{self.url} gives no answer: {problem or type(problem).__name__}")) from None
        if status != HTTPStatus.OK and not answer.startswith(b"{"):
            raise NodeSilent(f"{self.url} answers with HTTP status {status}")
        return answer.decode("utf-8", "surrogateescape")

    def head(self) -> tuple[int, str]:
        """The number and the id of the head block."""
        answer = self.ask(DATABASE, "get_dynamic_global_properties", [])
        result = answer.get("result") if isinstance(answer, dict) else None
        number = result.get("head_block_number") if isinstance(result, dict) else None
        name = result.get("head_block_id") if isinstance(result, dict) else None
        if not isinstance(number, int) or not isinstance(name, str):
            raise NodeSilent(f"{self.url} does not say at which block it stands")
        return number, name

    def close(self) -> None:
        self._client.close()
