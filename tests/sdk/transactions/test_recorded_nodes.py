"""Transactions by what running reference nodes have answered: prepared, exported, and found in their blocks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import reference_to
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.calling import TypedCall, decoded
from ledgerd.sdk.errors import UnknownAccount, UnknownMethod
from ledgerd.sdk.transactions.accounts import AccountReader
from ledgerd.sdk.transactions.builder import TransactionBuilder
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from ledgerd.sdk.transactions.search import TransactionState
from ledgerd.sdk.transactions.sent import SentTransaction, Waiting
from tests.recorded import ANSWERED, recorded_answers, recorded_blocks, recorded_probe

T = TypeVar("T")

FILES = (
    "open-hf0/api-336",
    "open-1/api-200",
    "open-1-at-4.1.0/api-2718",
    "open-2/api-617",
    "open-main/api-900",
    "open-main15/api-1216",
    "open-pm/api-2027",
    "open-pm2/api-463",
)


class RecordedNode:
    """Answers what was recorded, and says to everything else that it does not have it."""

    def __init__(self, answers: Mapping[tuple[str, str], str]) -> None:
        self.answers = answers

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        assert repeatable
        text = self.answers.get((method, json.dumps(list(params))))
        if text is None:
            raise UnknownMethod(f"not recorded: {api}.{method}")
        found = json.loads(text)
        return decoded(found["result"] if isinstance(found, dict) and "jsonrpc" in found else found, result)

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        return [await self.call(each.api, each.method, each.params, each.result) for each in calls]


@cache
def recorded(file: str) -> tuple[RecordedNode, list[str]]:
    """A node, and accounts that it knows; each of them can be looked up alone or with the next."""
    answers, accounts = dict[tuple[str, str], str](), dict[str, Any]()
    for fact in recorded_probe(file):
        if not isinstance(fact["request"].get("params"), list) or len(fact["request"]["params"]) != 3:
            continue
        _, method, arguments = fact["request"]["params"]
        answer = json.loads(fact["answer"])
        if method == "get_accounts" and len(answer.get("result", ())) == 1:
            accounts[answer["result"][0]["name"]] = answer["result"][0]
        elif "result" in answer:
            answers[method, json.dumps(arguments)] = fact["answer"]
    names = [*accounts][:20]
    for name in names:
        answers["lookup_account_names", json.dumps([[name]])] = json.dumps([accounts[name]])
    return RecordedNode(answers), names


@pytest.mark.parametrize("file", FILES)
def test_a_transaction_is_prepared_with_the_accounts_and_the_chain_that_a_node_tells_of(file: str) -> None:
    node, names = recorded(file)
    properties = asyncio.run(node.call("database_api", "get_dynamic_global_properties", [], dict))
    assert len(names) == 20
    count = 0
    for name in names:
        made = asyncio.run(_prepared(node, name))
        if made is None:
            continue  # it has a member that is not among those recorded
        count += 1
        again = PreparedTransaction.from_text(made.to_text())
        assert str(again.missing) == str(made.missing)
        number, prefix = made._draft.transaction.ref_block_num, made._draft.transaction.ref_block_prefix  # noqa: SLF001 - what was made
        assert (number, prefix) in {
            reference_to(BlockId(bytes.fromhex(properties[each])))
            for each in ("head_block_id", "last_irreversible_block_id")
        }
    assert count > 10


async def _prepared(node: RecordedNode, name: str) -> PreparedTransaction | None:
    try:
        return await TransactionBuilder(node).transfer(name, name, "1.000 VIZ").prepare()
    except UnknownMethod:
        return None


@pytest.mark.parametrize("file", FILES)
def test_an_account_that_does_not_exist_is_named(file: str) -> None:
    node, _ = recorded(file)
    asked = next(
        json.loads(key) for method, key in node.answers if method == "lookup_account_names" and "no-such" in key
    )
    with pytest.raises(UnknownAccount, match="there is no account no-such-account") as unknown:
        asyncio.run(AccountReader(node).learn(asked[0]))
    assert unknown.value.account == "no-such-account"


@pytest.mark.parametrize("chain", ["open-1", "open-main15", "open-pm"])
def test_transactions_are_found_in_the_blocks_that_have_them(chain: str) -> None:
    blocks = [codec_of(Block).decode_exactly(raw) for raw in recorded_blocks(chain)]
    answers = recorded_answers(chain, ANSWERED[chain])
    head = len(blocks)
    texts = {("get_block", json.dumps([number])): answers["get_block"][number,] for number in range(1, head + 1)}
    now = time_text(blocks[-1].timestamp)
    standing = {"head_block_number": head, "last_irreversible_block_num": head - 20, "time": now}
    node = RecordedNode({**texts, ("get_dynamic_global_properties", "[]"): json.dumps(standing)})
    sent = [(block.number, each) for block in blocks if block.transactions for each in block.transactions[:1]]
    assert len(sent) > 20
    for number, transaction in sent[-20:]:
        draft = Draft(ChainId(bytes(32)), transaction, transaction.ref_block_num)
        state = asyncio.run(SentTransaction(node, draft, Waiting(), may_be_sent=True).state())
        assert state == TransactionState("irreversible" if number <= head - 20 else "in a block", number)
