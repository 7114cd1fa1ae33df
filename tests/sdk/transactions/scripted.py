"""A chain that a test moves: what nodes answer of it, block after block, with answers that are lost where it says."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.calling import TypedCall, WrongForm, decoded
from ledgerd.sdk.errors import Duplicate, Expired, NodeUnavailable, UnknownMethod, WrongAnswer
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.builder import TransactionBuilder
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from ledgerd.sdk.transactions.sent import Waiting

T = TypeVar("T")

NOW = 1_700_000_000
BLOCK_SECONDS = 3
BEHIND = 10
"""Blocks that the last irreversible one is behind the head."""

REGULAR, ACTIVE, MASTER, MEMO = (PrivateKey(bytes([number]) * 32) for number in range(1, 5))
FRIEND, STRANGER = PrivateKey(b"\x21" * 32), PrivateKey(b"\x22" * 32)
Three = tuple[Authority, Authority, Authority]
ALICES: Three = (authority_of(REGULAR.public), authority_of(ACTIVE.public), authority_of(MASTER.public))


def id_of(number: int) -> str:
    return (number.to_bytes(4, "big") + hashlib.sha256(str(number).encode()).digest()[:16]).hex()


class ScriptedChain:
    """Makes a block at each pause of whoever waits. `asked` has every call."""

    def __init__(self) -> None:
        self.head = 100
        self.accounts: dict[str, Three] = dict.fromkeys(("alice", "bob"), ALICES)
        self.memo_keys: dict[str, PublicKey] = {}
        self.agents: list[dict[str, Any]] | None = None
        """None: the node knows no agents."""
        self.blocks: dict[int, list[Transaction]] = {}
        self.pending: list[Transaction] = []
        self.asked: list[tuple[str, list[Any]]] = []
        self.extra: dict[str, Callable[..., object]] = {}
        """Answers of further methods, or other answers than usual ones."""
        self.makes_blocks_of_pending = True
        self.swallows = False
        """As `vizd` does, which answers every broadcast alike."""
        self.lost: dict[int, str] = {}
        """Of the calls by number, from 0 on, those whose request or answer is lost."""
        self.has_been_paused = 0
        self.at_pause: dict[int, Callable[[], object]] = {}

    # -- time

    @property
    def waiting(self) -> Waiting:
        return Waiting(now=lambda: float(self.time_of(self.head)), elapsed=lambda: self.elapsed, pause=self._pause)

    @property
    def elapsed(self) -> float:
        return float(self.has_been_paused * BLOCK_SECONDS)

    def _pause(self, _: float) -> Awaitable[None]:
        async def block() -> None:
            self.has_been_paused += 1
            self.grow()
            self.at_pause.get(self.has_been_paused, lambda: None)()

        return block()

    def time_of(self, number: int) -> int:
        return NOW + BLOCK_SECONDS * (number - 100)

    def grow(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            self.head += 1
            if self.makes_blocks_of_pending and self.pending:
                now = self.time_of(self.head)
                self.blocks[self.head] = [each for each in self.pending if each.expiration >= now]
                self.pending = []

    def carried_out(self) -> list[str]:
        """The id of each transaction in a block, as often as it is in one."""
        return [each.id.hex() for block in self.blocks.values() for each in block]

    # -- a node of it

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        assert repeatable == (method != "broadcast_transaction"), "a broadcast must reach one node, and once"
        number = len(self.asked)
        self.asked.append((method, json.loads(json.dumps(list(params)))))
        lost = self.lost.get(number)
        if lost == "request":
            raise NodeUnavailable("the connection was cut before it was sent")
        try:
            answer = self.usual(method, *params)
        except KeyError:
            raise UnknownMethod(f"Could not find method {method}", method=f"{api}.{method}") from None
        if lost == "answer":
            raise NodeUnavailable("the connection was cut before the answer")
        try:
            return decoded(answer, result)
        except WrongForm as wrong:
            raise WrongAnswer(str(wrong)) from None

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        return [await self.call(each.api, each.method, each.params, each.result) for each in calls]

    def usual(self, method: str, *params: Any) -> Any:
        """What it answers unless a test says otherwise. `KeyError`: it does not have the method."""
        known: dict[str, Callable[..., object]] = {
            "get_config": lambda: {"CHAIN_ID": TESTNET.chain_id.hex()},
            "get_dynamic_global_properties": self._properties,
            "get_block": self._block,
            "lookup_account_names": lambda names: [self._account(name) for name in names],
            "broadcast_transaction": self._take,
        }
        if self.agents is not None:
            known["get_agent_permissions"] = lambda _: self.agents
        return (known | self.extra)[method](*params)

    def _properties(self) -> dict[str, Any]:
        return {
            "head_block_id": id_of(self.head),
            "head_block_number": self.head,
            "time": time_text(self.time_of(self.head)),
            "last_irreversible_block_num": self.head - BEHIND,
            "last_irreversible_block_id": id_of(self.head - BEHIND),
            "maximum_block_size": 65_536,
        }

    def _account(self, name: str) -> dict[str, Any] | None:
        if name not in self.accounts:
            return None
        texts = (json.loads(codec_of(Authority).to_json(each)) for each in self.accounts[name])
        record = dict(zip(("regular_authority", "active_authority", "master_authority"), texts, strict=True))
        return {"name": name, "memo_key": public_key_text(self.memo_keys.get(name, MEMO.public)), **record}

    def _block(self, number: int) -> dict[str, Any] | None:
        if number > self.head:
            return None
        transactions = [json.loads(codec_of(Transaction).to_json(each)) for each in self.blocks.get(number, [])]
        return {
            "previous": id_of(number - 1),
            "timestamp": time_text(self.time_of(number)),
            "validator": "viz",
            "transaction_merkle_root": "00" * 20,
            "extensions": [],
            "validator_signature": "00" * 65,
            "transactions": transactions,
        }

    def _take(self, text: object) -> dict[str, Any]:
        """A chain takes a transaction once, and none that has expired."""
        taken = codec_of(Transaction).from_json(text)
        is_late = taken.expiration <= self.time_of(self.head)
        is_known = taken.id.hex() in self.carried_out() or taken.id in {each.id for each in self.pending}
        if not is_late and not is_known:
            self.pending.append(taken)
        elif not self.swallows:
            raise Expired("now < trx.expiration: ") if is_late else Duplicate("Duplicate transaction check failed")
        return {}

    def count(self, method: str) -> int:
        return sum(each == method for each, _ in self.asked)

    def undo(self, number: int) -> None:
        """A block is replaced by another one of its number, with what it had in no block."""
        self.pending += self.blocks.pop(number)


def authority(threshold: int, accounts: dict[str, int], *keys: PrivateKey) -> Authority:
    return Authority(
        threshold, {AccountName(name): weight for name, weight in accounts.items()}, {key.public: 1 for key in keys}
    )


def builder(chain: ScriptedChain, *keys: PrivateKey, **more: Any) -> TransactionBuilder:
    return TransactionBuilder(chain, KeyRing(*keys), waiting=chain.waiting, **more)


def prepared(made: TransactionBuilder) -> PreparedTransaction:
    return asyncio.run(made.prepare())
