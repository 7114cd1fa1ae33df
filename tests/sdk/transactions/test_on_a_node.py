"""Transactions of programs and a real node: from a method of the builder into an irreversible block."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest

from ledgerd.node.dev.founding import AGENTS, PUBLISHED_ACCOUNTS_KEY
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.types.authority import Authority
from ledgerd.sdk import Client
from ledgerd.sdk.amounts import Viz
from ledgerd.sdk.errors import Rejected
from ledgerd.sdk.keys.derivation import new_key
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.errors import SignaturesMissing
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from tests.node.processes import NodeProcess

R = TypeVar("R")
EVERYBODY = KeyRing(PUBLISHED_ACCOUNTS_KEY)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp("dev")
    words = ("dev", "--block-time", "0", "--fresh", "--data-dir", str(folder / "data"))
    with NodeProcess(*words, "--http", "127.0.0.1:0") as node:
        node.port()
        yield node


@pytest.fixture
def run(node: NodeProcess) -> Callable[[Callable[[Client], Awaitable[R]]], R]:
    """Runs what is done with a client of the node."""

    async def with_client(work: Callable[[Client], Awaitable[R]]) -> R:
        async with Client(f"http://127.0.0.1:{node.port()}") as client:
            return await work(client)

    return lambda work: asyncio.run(with_client(work))


Run = Callable[[Callable[[Client], Awaitable[Any]]], Any]


def balance(node: NodeProcess, name: str) -> Viz:
    (record,) = node.call("database_api", "get_accounts", [name])
    return Viz(record["balance"])


def test_a_transfer_comes_into_a_block_that_becomes_irreversible(node: NodeProcess, run: Run) -> None:
    before = balance(node, "bob")

    async def pay(client: Client) -> int:
        async with client.transaction(EVERYBODY) as t:
            t.transfer("alice", "bob", "1.500 VIZ", memo="thank you")
        block = await t.sent.in_block()
        node.call("dev_api", "mine_blocks", 30)
        assert await t.sent.irreversible() == block
        return block

    block = run(pay)
    assert balance(node, "bob") == before + Viz("1.5")
    record = node.call("database_api", "get_block", block)
    assert record["transactions"][0]["operations"] == [
        ["transfer", {"from": "alice", "to": "bob", "amount": "1.500 VIZ", "memo": "thank you"}]
    ]


def test_the_same_transaction_sent_three_times_moves_tokens_once(node: NodeProcess, run: Run) -> None:
    before = balance(node, "bob")

    async def pay(client: Client) -> None:
        builder = client.transaction(EVERYBODY).transfer("alice", "bob", "1.000 VIZ", memo="once")
        sent = await builder.send()
        await builder.send()
        await PreparedTransaction.from_text((await builder.prepare()).to_text(), client).send()
        await sent.in_block()

    run(pay)
    assert balance(node, "bob") == before + Viz("1")


def test_a_dry_run_tells_what_would_change_and_changes_nothing(node: NodeProcess, run: Run) -> None:
    before = balance(node, "bob")
    found = run(lambda client: client.transaction(EVERYBODY).transfer("alice", "bob", "2.000 VIZ").simulate())

    assert (found.not_told, found.broken_rule) == ("", "")
    assert {(each.account, each.after - each.before) for each in found.balances} >= {("bob", Viz("2"))}
    assert balance(node, "bob") == before


def test_what_the_chain_refuses_is_an_error_with_its_words(run: Run) -> None:
    async def overdraw(client: Client) -> None:
        await client.transaction(EVERYBODY).transfer("alice", "bob", "9000000000.000 VIZ").send()

    with pytest.raises(Rejected, match="sufficient funds"):
        run(overdraw)


def test_a_shared_account_pays_with_two_of_three_keys_signed_apart(node: NodeProcess, run: Run) -> None:
    first, second, third = new_key(), new_key(), new_key()
    shared = Authority(2, {}, dict.fromkeys(sorted(each.public for each in (first, second, third)), 1))

    async def pay(client: Client) -> None:
        async with client.transaction(KeyRing(PUBLISHED_INITIATOR_KEY)) as t:
            t.account_create(
                fee="1.000 VIZ", delegation="1000.000000 SHARES", creator="viz", new_account_name="shared",
                master=shared, active=shared, regular=shared, memo_key=public_key_text(first.public),
            )  # fmt: skip
            t.transfer("viz", "shared", "5.000 VIZ")
        await t.sent.in_block()
        with pytest.raises(SignaturesMissing, match="active authority of shared"):
            await client.transaction(KeyRing(first)).transfer("shared", "bob", "1.000 VIZ").send()
        text = await client.transaction(KeyRing(first)).transfer("shared", "bob", "1.000 VIZ").export()
        signed = PreparedTransaction.from_text(text).signed(KeyRing(third)).to_text()
        sent = await PreparedTransaction.from_text(signed, client).send()
        await sent.in_block()

    run(pay)
    assert balance(node, "shared") == Viz("4")


def test_a_proposal_is_approved_by_those_whose_authority_it_needs(node: NodeProcess, run: Run) -> None:
    before = balance(node, "charlie")

    async def propose(client: Client) -> None:
        async with client.transaction(EVERYBODY) as t:
            t.transfer("bob", "charlie", "1.000 VIZ", memo="#for charlie alone")
            t.propose("alice", "pay charlie", lifetime=3_600)
        await t.sent.in_block()
        async with client.transaction(EVERYBODY) as t:
            t.proposal_update("alice", "pay charlie", active_approvals_to_add=["bob"])
        await t.sent.in_block()

    run(propose)
    assert balance(node, "charlie") == before + Viz("1")


def test_an_agent_acts_for_its_account(node: NodeProcess, run: Run) -> None:
    agent = next(each for each in AGENTS if each.operations == ("award",))

    async def award(client: Client) -> int:
        async with client.transaction(KeyRing(agent.key)) as t:
            t.award(agent.account, "bob", 100)
        return await t.sent.in_block()

    block = run(award)
    assert node.call("database_api", "get_block", block)["transactions"][0]["operations"][0][0] == "award"


def test_a_stranger_signs_for_nobody(run: Run) -> None:
    async def pay(client: Client) -> None:
        await client.transaction(KeyRing(PrivateKey(b"\x77" * 32))).transfer("alice", "bob", "1.000 VIZ").send()

    with pytest.raises(SignaturesMissing, match="signatures of the active authority of alice are missing"):
        run(pay)
