"""The node on which is recorded: its head, transactions that are sent to it, and time where it can be moved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from ledgerd.client.asked import DATABASE, AskedNode, NodeSilent
from ledgerd.client.envelope import NodeCall, request_of
from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.recording.steps import OperationText

LIFETIME = 120
"""Seconds until a transaction that no block has taken is given up."""
ATTEMPTS = 20
"""How often an answer is asked for, to have one between two blocks."""


class RecordingRefused(OperatorError):
    """The node refuses what a scenario needs."""


class HeadMoment(NamedTuple):
    """The head block."""

    number: int
    id: str
    time: int


class RecordedFact(NamedTuple):
    """A request and its exact answer, of a node whose head was this one before and after."""

    height: int
    request: dict[str, object]
    answer: str


class Sent(NamedTuple):
    """A transaction on its way."""

    id: str
    expiration: int
    transaction: Json


class RecordedNetwork:
    """A private network, by one of its nodes."""

    def __init__(self, node: AskedNode, key_of: Callable[[str], PrivateKey]) -> None:
        self._node = node
        self._key_of = key_of
        config = self.value(DATABASE, "get_config")
        self.version = str(config["CHAIN_VERSION"])
        self.chain_id = bytes.fromhex(config["CHAIN_ID"])
        if self.chain_id == MAINNET.chain_id:
            raise RecordingRefused(
                f"{node.url} is of the main network, or calls itself so: scenarios are for private ones"
            )
        self.can_travel = "result" in self.whole("dev_api", "head")

    def whole(self, api: str, method: str, *arguments: Json) -> dict[str, Any]:
        answer = self._node.ask(api, method, arguments)
        if not isinstance(answer, dict):
            raise NodeSilent(f"{self._node.url} answers {api}.{method} with no JSON-RPC")
        return answer

    def value(self, api: str, method: str, *arguments: Json) -> Any:  # noqa: ANN401 - JSON of the API
        """A result; an error ends the recording."""
        answer = self.whole(api, method, *arguments)
        if "result" not in answer:
            raise RecordingRefused(f"{api}.{method} is refused: {_message(answer)}")
        return answer["result"]

    @property
    def head(self) -> HeadMoment:
        found = self.value(DATABASE, "get_dynamic_global_properties")
        return HeadMoment(found["head_block_number"], found["head_block_id"], parse_time_text(found["time"]))

    def fact(self, number: int, api: str, method: str, arguments: Iterable[Json]) -> RecordedFact:
        """An answer between two looks at the same head."""
        request = request_of(number, NodeCall(api, method, tuple(arguments)))
        for _ in range(ATTEMPTS):
            before = self.head
            answer = self._node.exact(request)
            if self.head == before:
                return RecordedFact(before.number, request, answer)
        raise NodeSilent(f"the head of {self._node.url} moves faster than {api}.{method} is answered")

    def signed(self, operations: Iterable[OperationText], signers: Iterable[str]) -> Sent:
        head = self.head
        empty = unsigned_transaction(BlockId(bytes.fromhex(head.id)), head.time + LIFETIME, ())
        fields = orjson.loads(codec_of(Transaction).to_json(empty))
        plain = orjson.loads(orjson.dumps([list(each) for each in operations]))
        draft = codec_of(Transaction).from_json({**fields, "operations": plain})
        signed = draft.signed(self.chain_id, [self._key_of(each) for each in signers])
        return Sent(signed.id.hex(), head.time + LIFETIME, orjson.loads(codec_of(Transaction).to_json(signed)))

    def send(self, sent: Sent) -> None:
        answer = self.whole("network_broadcast_api", "broadcast_transaction", sent.transaction)
        if "result" not in answer:
            raise RecordingRefused(
                f"a transaction is refused: {_message(answer)}: {json.dumps(sent.transaction)[:1_000]}"
            )

    def block_of(self, sent: Sent) -> int | None:
        """The block that has taken a transaction, if one has."""
        answer = self.whole("operation_history", "get_transaction", sent.id)
        result = answer.get("result")
        return int(result["block_num"]) if isinstance(result, dict) else None

    def travel(self, seconds: int) -> None:
        """Move the clock of a development chain."""
        self.value("dev_api", "move_time", seconds)


def _message(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message"))[:1_000] if isinstance(error, dict) else "neither a result nor an error"
