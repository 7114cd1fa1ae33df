"""JSON-RPC 2.0 to a node, over HTTP, HTTPS, WS or WSS: one request at a time, each bounded in time and bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ledgerd.basics.closing import Closing
from ledgerd.basics.printable import printable
from ledgerd.client.address import SECURE_SOCKET, SECURE_WEB, SOCKET, WEB, NodeAddress, read_address
from ledgerd.client.blocking import HttpClient
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, packed, parsed, request_of, result_of
from ledgerd.client.exchange import TooLarge
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, WalletError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection
import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.sdk.transactions.dry_run import DryRun, dry_run_of

SECONDS = 15.0
"""The longest time for an answer."""
LARGEST_ANSWER = 32 << 20
"""Bytes of an answer."""


class NodeClient(Closing):
    """A node, by its address."""

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self.url = url
        self._seconds = seconds
        self._address = _address_of(url)
        self._numbers = itertools.count(1)
        self._http = HttpClient(self._address)
        self._socket: ClientConnection | None = None
        self._open = ExitStack()

    @property
    def is_readable_by_others(self) -> bool:
        return not (self._address.is_secure or self._address.is_this_machine)

    def call(self, api: str, method: str, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        """`NodeUnreachable` where there is no answer that can be read, `NodeRefused` where it is an error."""
        number = next(self._numbers)
        body = packed(request_of(number, NodeCall(api, method, arguments)))
        try:
            raw = self._by_socket(body) if self._address.scheme in (SOCKET, SECURE_SOCKET) else self._by_http(body)
        except OSError as problem:
            self.close()
            raise NodeUnreachable(f"{self.url} does not answer: {printable(str(problem))}") from problem
        except NodeUnreachable:
            self.close()  # what is left of the answer must not be taken for the next one
            raise
        try:
            return result_of(parsed(raw), number)
        except NotAnAnswer:
            raise NodeUnreachable(f"{self.url} does not answer as a node does") from None
        except ErrorAnswer as error:
            raise NodeRefused(printable(error.message), error.data) from None

    @contextmanager
    def understood(self) -> Iterator[None]:
        """While an answer is read: one of another form than a node's is refused."""
        try:
            yield
        except (LookupError, TypeError, ValueError, ArithmeticError, CodecError, RuleViolation):
            raise NodeUnreachable(f"{self.url} does not answer as a node does") from None

    def close(self) -> None:
        self._http.close()
        self._socket = None
        self._open.close()

    def _by_http(self, body: bytes) -> bytes:
        try:
            status, reason, raw = self._http.post(body, self._seconds, LARGEST_ANSWER)
        except TooLarge:
            raise NodeUnreachable(f"{self.url} answers more than {LARGEST_ANSWER >> 20} MB") from None
        if status != HTTPStatus.OK and not raw.startswith(b"{"):
            raise NodeUnreachable(f"{self.url} answers {status} {printable(reason)}")
        return raw

    def _by_socket(self, body: bytes) -> bytes:
        from websockets.exceptions import WebSocketException  # noqa: PLC0415 - not loaded where HTTP is spoken
        from websockets.sync.client import connect  # noqa: PLC0415

        try:
            if self._socket is None:
                opened = connect(self.url, open_timeout=self._seconds, max_size=LARGEST_ANSWER)
                self._socket = self._open.enter_context(opened)
            self._socket.send(body.decode())
            answer = self._socket.recv(self._seconds)
        except WebSocketException as problem:
            raise ConnectionError(str(problem)) from problem
        return answer.encode() if isinstance(answer, str) else answer


def _address_of(url: str) -> NodeAddress:
    try:
        return read_address(url, (WEB, SECURE_WEB, SOCKET, SECURE_SOCKET))
    except OperatorError as problem:
        raise WalletError(str(problem)) from None


def dry_run(node: NodeClient, transaction: Transaction) -> DryRun:
    text = codec_of(Transaction).to_json(transaction)
    try:
        found = node.call("node_api", "simulate_transaction", msgspec.json.decode(text))
    except NodeRefused as refused:
        return DryRun(not_told=str(refused).strip() or "it does not say why")
    with node.understood():
        return dry_run_of(found)
