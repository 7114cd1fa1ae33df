"""Transactions as programs write them: what is added to the operations, who signs, and what is refused before a node
sees it.
"""

from __future__ import annotations

import asyncio

import pytest

from ledgerd.protocol.blocks.transaction import reference_to, unsigned_transaction
from ledgerd.protocol.crypto import memo
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.accounts.proposals import ProposalCreate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.amounts import Viz
from ledgerd.sdk.errors import UnknownAccount, WrongChain
from ledgerd.sdk.keys.keyring import NoPrivateKey
from ledgerd.sdk.keys.memos import is_encrypted
from ledgerd.sdk.transactions.builder import TransactionBuilder, UsedIds
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.errors import (
    InvalidTransaction,
    MixedAuthorities,
    SignaturesMissing,
    TransactionTooLarge,
    WrongParameter,
)
from tests.sdk.transactions.scripted import (
    ACTIVE,
    ALICES,
    FRIEND,
    MASTER,
    MEMO,
    NOW,
    REGULAR,
    STRANGER,
    ScriptedChain,
    builder,
    id_of,
    prepared,
)


def test_a_transaction_is_sent_at_the_end_of_its_block() -> None:
    chain = ScriptedChain()

    async def pay() -> int:
        async with builder(chain, ACTIVE) as t:
            t.transfer("alice", "bob", Viz("1"), memo="hello")
        return await t.sent.in_block()

    assert asyncio.run(pay()) == 101
    ((transaction,),) = chain.blocks.values()
    assert transaction.operations == (Transfer(AccountName("alice"), AccountName("bob"), tokens(1_000), "hello"),)
    assert transaction.signature_keys(TESTNET.chain_id) == {ACTIVE.public}
    assert (transaction.ref_block_num, transaction.ref_block_prefix) == reference_to(BlockId(bytes.fromhex(id_of(90))))
    assert transaction.expiration == NOW + 60


def test_nothing_is_sent_where_an_exception_ends_the_block_or_nothing_was_added() -> None:
    chain = ScriptedChain()

    async def fail() -> None:
        async with builder(chain, ACTIVE) as t:
            t.transfer("alice", "bob", "1.000 VIZ")
            raise KeyError("of the program")

    async def add_nothing() -> TransactionBuilder:
        async with builder(chain, ACTIVE) as t:
            pass
        return t

    with pytest.raises(KeyError):
        asyncio.run(fail())
    with pytest.raises(InvalidTransaction, match="was not sent"):
        _ = asyncio.run(add_nothing()).sent
    assert chain.asked == []


def test_what_was_sent_in_the_block_is_not_sent_again_at_its_end() -> None:
    chain = ScriptedChain()

    async def pay() -> None:
        async with builder(chain, ACTIVE) as t:
            t.transfer("alice", "bob", "1.000 VIZ")
            sent = await t.send()
            assert await sent.in_block() == 101

    asyncio.run(pay())
    assert chain.count("broadcast_transaction") == 1


@pytest.mark.parametrize(
    ("keys", "operation", "signs"),
    [
        ((REGULAR, ACTIVE, MASTER), "award", REGULAR),
        ((REGULAR, ACTIVE, MASTER), "transfer", ACTIVE),
        ((MASTER,), "transfer", MASTER),
        ((ACTIVE, STRANGER), "award", ACTIVE),
    ],
)
def test_the_key_of_the_least_power_that_suffices_signs(
    keys: tuple[PrivateKey, ...], operation: str, signs: PrivateKey
) -> None:
    made = builder(ScriptedChain(), *keys)
    if operation == "award":
        made.award("alice", "bob", 100)
    else:
        made.transfer("alice", "bob", "1.000 VIZ")
    assert prepared(made).signed_by == {signs.public}


def test_missing_signatures_are_named_by_account_and_role_and_nothing_is_sent() -> None:
    chain = ScriptedChain()
    made = builder(chain, REGULAR, MASTER).transfer("bob", "alice", "1.000 VIZ")
    chain.accounts["bob"] = (authority_of(FRIEND.public),) * 3
    with pytest.raises(SignaturesMissing, match="signatures of the active authority of bob are missing") as missing:
        asyncio.run(made.send())

    assert (missing.value.accounts, missing.value.role) == (("bob",), "active")
    assert chain.count("broadcast_transaction") == 0


def test_operations_are_proposed_with_the_chains_time() -> None:
    chain = ScriptedChain()
    chain.accounts["shared"] = ALICES
    made = builder(chain, ACTIVE)
    made.transfer("shared", "bob", "1.000 VIZ").transfer("shared", "bob", "2.000 VIZ")
    (proposal,) = prepared(made.propose("alice", "pay bob", lifetime=3_600, review=600)).operations

    assert isinstance(proposal, ProposalCreate)
    assert [each.op.amount for each in proposal.proposed_operations] == [tokens(1_000), tokens(2_000)]  # type: ignore[attr-defined]
    assert (proposal.expiration_time, proposal.review_period_time) == (NOW + 3_600, NOW + 3_000)


def test_proposals_that_mean_nothing_are_refused() -> None:
    made = builder(ScriptedChain())
    with pytest.raises(InvalidTransaction, match="proposed together, once, after they were added"):
        made.propose("alice", "nothing")
    made.transfer("alice", "bob", "1.000 VIZ")
    for lifetime, review in ((0, 0), (100, 100), (1 << 30, 0), (100, -1)):
        with pytest.raises(WrongParameter, match=r"propose\.lifetime"):
            made.propose("alice", "pay", lifetime=lifetime, review=review)
    made.propose("alice", "pay")
    with pytest.raises(InvalidTransaction, match="proposed together, once"):
        made.propose("alice", "pay")


def test_a_memo_that_begins_with_a_mark_is_encrypted_in_proposals_too() -> None:
    chain = ScriptedChain()
    chain.memo_keys = {"bob": FRIEND.public}
    made = prepared(builder(chain, ACTIVE, MEMO).transfer("alice", "bob", "1.000 VIZ", memo="#for you"))
    (transfer,) = made.operations
    assert isinstance(transfer, Transfer)
    assert memo.decode(transfer.memo, FRIEND) == memo.decode(transfer.memo, MEMO) == "for you"

    proposed = builder(chain, ACTIVE, MEMO).transfer("alice", "bob", "1.000 VIZ", memo="#for you").propose("alice", "x")
    (proposal,) = prepared(proposed).operations
    assert isinstance(proposal, ProposalCreate)
    assert is_encrypted(proposal.proposed_operations[0].op.memo)  # type: ignore[attr-defined]


def test_a_memo_that_cannot_be_encrypted_is_not_sent_plainly() -> None:
    chain = ScriptedChain()
    with pytest.raises(NoPrivateKey, match="the memo key of alice is needed"):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ", memo="#for you"))
    chain.memo_keys = {"bob": NULL_KEY}
    with pytest.raises(InvalidTransaction, match="bob has no memo key"):
        prepared(builder(chain, ACTIVE, MEMO).transfer("alice", "bob", "1.000 VIZ", memo="#for you"))
    assert chain.count("broadcast_transaction") == 0


def test_a_transaction_that_the_network_would_not_take_is_refused_before_it_is_sent() -> None:
    chain = ScriptedChain()
    with pytest.raises(InvalidTransaction, match=r"transfer: amount\.amount > 0: Cannot transfer a negative amount"):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "0.000 VIZ"))
    with pytest.raises(InvalidTransaction, match="one operation at least"):
        prepared(builder(chain, ACTIVE))
    with pytest.raises(MixedAuthorities):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").award("alice", "bob", 1))
    with pytest.raises(UnknownAccount, match=r"transfer\.from: there is no account nobody"):
        prepared(builder(chain, ACTIVE).transfer("nobody", "bob", "1.000 VIZ"))
    with pytest.raises(UnknownAccount, match=r"transfer\.to: there is no account nobody") as unknown:
        prepared(builder(chain, ACTIVE).transfer("alice", "nobody", "1.000 VIZ"))
    assert unknown.value.account == "nobody"
    large = builder(chain, ACTIVE)
    for _ in range(40):
        large.custom("notes", '"' + "x" * 1_650 + '"', required_active_auths=["alice"])
    with pytest.raises(TransactionTooLarge, match=r"has 6\d,\d+ bytes, and the network takes 65,280"):
        prepared(large)
    assert chain.count("broadcast_transaction") == 0


@pytest.mark.parametrize("lifetime", [0, -5, 3_601, 1e9])
def test_an_expiration_that_the_chain_does_not_take_is_refused(lifetime: float) -> None:
    with pytest.raises(WrongParameter, match="lifetime: between 1 and 3600 seconds"):
        builder(ScriptedChain(), lifetime=lifetime)


def test_a_node_of_another_chain_gets_no_signature() -> None:
    made = builder(ScriptedChain(), ACTIVE, chain_id=bytes(32)).transfer("alice", "bob", "1.000 VIZ")
    with pytest.raises(WrongChain) as wrong:
        prepared(made)
    assert (wrong.value.expected, wrong.value.found) == ("00" * 32, TESTNET.chain_id.hex())


def test_nothing_is_added_to_a_transaction_that_is_prepared_and_it_stays_the_same() -> None:
    chain = ScriptedChain()
    chain.memo_keys = {"bob": FRIEND.public}
    made = builder(chain, ACTIVE, MEMO).transfer("alice", "bob", "1.000 VIZ", memo="#different each time")
    first = prepared(made)
    chain.grow(3)

    assert prepared(made) is first
    assert asyncio.run(made.send()).id == first.id
    with pytest.raises(InvalidTransaction, match="begin another one"):
        made.transfer("alice", "bob", "1.000 VIZ")


def test_an_account_that_the_same_transaction_creates_need_not_exist() -> None:
    chain = ScriptedChain()
    made = builder(chain, ACTIVE).account_create(
        fee="1.000 VIZ",
        delegation="0.000000 SHARES",
        creator="alice",
        new_account_name="carol",
        master=STRANGER.public,
        active=STRANGER.public,
        regular=STRANGER.public,
        memo_key=STRANGER.public,
    )
    made.transfer("alice", "carol", "1.000 VIZ")

    assert len(prepared(made).operations) == 2
    assert chain.count("lookup_account_names") == 1


def test_accounts_inside_of_proposals_have_to_exist_too() -> None:
    made = builder(ScriptedChain(), ACTIVE).transfer("alice", "nobody", "1.000 VIZ").propose("alice", "pay")
    with pytest.raises(
        UnknownAccount, match=r"proposal_create\.proposed_operations.*there is no account nobody|\.to: "
    ):
        prepared(made)


def test_one_transaction_that_is_sent_twice_at_once_is_prepared_once() -> None:
    chain = ScriptedChain()
    chain.memo_keys = {"bob": FRIEND.public}
    made = builder(chain, ACTIVE, MEMO).transfer("alice", "bob", "1.000 VIZ", memo="#different each time")

    async def twice() -> set[str]:
        return {each.id for each in await asyncio.gather(made.send(), made.send())}

    assert len(asyncio.run(twice())) == 1
    chain.grow()
    assert len(chain.carried_out()) == 1


def test_equal_transactions_are_carried_out_each() -> None:
    chain = ScriptedChain()
    for lifetime in (60, 60, 60, 3_600, 3_600, 1, 1):
        asyncio.run(builder(chain, ACTIVE, lifetime=lifetime).transfer("alice", "bob", "7.000 VIZ").send())
    (first, *others) = chain.pending

    assert first.expiration == NOW + 60
    assert all(each.operations == first.operations for each in others)
    assert len({each.id for each in chain.pending}) == 7
    assert all(NOW < each.expiration <= NOW + 3_600 for each in chain.pending)


def test_ids_are_not_remembered_without_end() -> None:
    used = UsedIds(2)
    drafts = [
        Draft(TESTNET.chain_id, unsigned_transaction(BlockId(bytes(20)), NOW + number, ()), 0) for number in range(3)
    ]
    for draft in drafts:
        assert used.first_new([draft]) is draft
    assert used.first_new(drafts) is drafts[0]
    with pytest.raises(InvalidTransaction, match="too many equal transactions"):
        used.first_new(drafts[2:])
