"""Transactions as programs write them: what is added to the operations, who signs, and what is refused before a node
sees it.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.authorities.authority_check import Accounts, verify_authority
from ledgerd.protocol.blocks.transaction import reference_to
from ledgerd.protocol.crypto import memo
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, public_key_text
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.accounts.proposals import ProposalCreate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.amounts import Viz
from ledgerd.sdk.errors import ClientError, UnknownAccount, WrongAnswer, WrongChain
from ledgerd.sdk.keys.keyring import KeyRing, NoPrivateKey
from ledgerd.sdk.keys.memos import is_encrypted
from ledgerd.sdk.transactions import accounts as account_facts
from ledgerd.sdk.transactions.builder import TransactionBuilder
from ledgerd.sdk.transactions.errors import (
    ForeignDraft,
    InvalidTransaction,
    MixedAuthorities,
    SignaturesMissing,
    TransactionTooLarge,
    WrongParameter,
)
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from tests.sdk.transactions.scripted import (
    ACTIVE,
    ALICES,
    MASTER,
    MEMO,
    NOW,
    REGULAR,
    ScriptedChain,
    authority,
    id_of,
)

FRIEND, STRANGER = PrivateKey(b"\x21" * 32), PrivateKey(b"\x22" * 32)


def builder(chain: ScriptedChain, *keys: PrivateKey, **more: Any) -> TransactionBuilder:
    return TransactionBuilder(chain, KeyRing(*keys), waiting=chain.waiting, **more)


def prepared(made: TransactionBuilder) -> PreparedTransaction:
    return asyncio.run(made.prepare())


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


def test_accounts_that_stand_in_for_accounts_are_followed_as_deep_as_the_network_looks() -> None:
    chain = ScriptedChain()
    chain.accounts["shared"] = (authority(1, {"team": 1}),) * 3
    chain.accounts["team"] = (authority(2, {"bob": 1, "carol": 1}),) * 3
    chain.accounts["bob"] = (authority_of(FRIEND.public),) * 3
    chain.accounts["carol"] = (authority_of(STRANGER.public),) * 3
    made = prepared(builder(chain, FRIEND, STRANGER, ACTIVE).transfer("shared", "bob", "1.000 VIZ"))

    assert made.missing is None
    assert made.signed_by == {FRIEND.public, STRANGER.public}
    by_role = (lambda name: chain.accounts[name][1], lambda name: chain.accounts[name][2], lambda _: ALICES[0])
    verify_authority(made.operations, made.signed_by, Accounts(*by_role))


def test_missing_signatures_are_named_by_account_and_role_and_nothing_is_sent() -> None:
    chain = ScriptedChain()
    made = builder(chain, REGULAR, MASTER).transfer("bob", "alice", "1.000 VIZ")
    chain.accounts["bob"] = (authority_of(FRIEND.public),) * 3
    with pytest.raises(SignaturesMissing, match="signatures of the active authority of bob are missing") as missing:
        asyncio.run(made.send())

    assert (missing.value.accounts, missing.value.role) == (("bob",), "active")
    assert chain.count("broadcast_transaction") == 0


def test_two_of_three_sign_on_different_machines() -> None:
    chain = ScriptedChain()
    chain.accounts["shared"] = (authority(2, {}, ACTIVE, FRIEND, STRANGER),) * 3

    async def first() -> str:
        async with builder(chain, ACTIVE) as t:
            t.transfer("shared", "bob", "1.000 VIZ")
            return await t.export()

    text = asyncio.run(first())
    assert chain.count("broadcast_transaction") == 0
    offline = PreparedTransaction.from_text(text)
    assert str(offline.missing) == "signatures of the active authority of shared are missing"
    with pytest.raises(TypeError, match="without a client"):
        asyncio.run(offline.send())
    both = offline.signed(KeyRing(FRIEND, STRANGER, ACTIVE))
    assert both.missing is None
    assert len(both.signed_by) == 2
    assert offline.id == both.id
    for key in (ACTIVE, FRIEND, STRANGER):
        assert key.secret.hex() not in both.to_text()
        assert key.wif not in both.to_text()

    again = PreparedTransaction.from_text(both.to_text(), chain, waiting=chain.waiting)
    assert asyncio.run(asyncio.run(again.send()).in_block()) == 101


@pytest.mark.parametrize(
    ("field", "value"), [("id", "00" * 20), ("transaction", "00"), ("chain_id", "00"), ("format", "2"), ("more", 1)]
)
def test_a_text_that_was_changed_is_refused(field: str, value: object) -> None:
    text = prepared(builder(ScriptedChain(), ACTIVE).transfer("alice", "bob", "1.000 VIZ")).to_text()
    with pytest.raises(ForeignDraft, match="the text "):
        PreparedTransaction.from_text(json.dumps({**json.loads(text), field: value}))


@pytest.mark.parametrize("text", ["", "[]", "{}", "\ud800", b"\xff"])
def test_a_text_of_something_else_is_refused(text: str | bytes) -> None:
    with pytest.raises(ForeignDraft, match="is no transaction"):
        PreparedTransaction.from_text(text)


def test_an_agent_signs_where_the_accounts_own_keys_are_not_there() -> None:
    chain = ScriptedChain()
    record = {
        "agent_name": "phone",
        "agent_key": public_key_text(FRIEND.public),
        "operations": ["award"],
        "expiration": "2030-01-01T00:00:00",
        "expired": False,
    }
    chain.agents = [record]
    assert prepared(builder(chain, FRIEND).award("alice", "bob", 100)).signed_by == {FRIEND.public}
    assert prepared(builder(chain, FRIEND, REGULAR).award("alice", "bob", 100)).signed_by == {REGULAR.public}
    assert prepared(builder(chain, FRIEND).transfer("alice", "bob", "1.000 VIZ")).missing is not None
    chain.agents = [{**record, "expired": True}]
    assert prepared(builder(chain, FRIEND).award("alice", "bob", 100)).missing is not None


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


def test_a_dry_run_tells_what_would_change_where_the_node_has_it() -> None:
    chain = ScriptedChain()
    step = {"account": "bob", "balance_before": "1.000 VIZ", "balance_after": "2.000 VIZ"}
    same = {"vesting_shares_before": "1.000000 SHARES", "vesting_shares_after": "1.000000 SHARES"}
    chain.extra["simulate_transaction"] = lambda _: {"operations": [], "balances": [step | same]}
    found = asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())

    ((account, before, after),) = [(each.account, each.before, each.after) for each in found.balances]
    assert (account, before, after) == ("bob", Viz("1"), Viz("2"))
    assert chain.count("broadcast_transaction") == 0


def test_a_dry_run_at_a_node_without_it_checks_the_signatures() -> None:
    chain = ScriptedChain()
    chain.extra["verify_authority"] = lambda _: True
    found = asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())
    assert found.not_told.endswith("Could not find method simulate_transaction")
    assert found.broken_rule == ""
    assert asyncio.run(builder(chain).transfer("alice", "bob", "1.000 VIZ").simulate()).broken_rule == (
        "signatures of the active authority of alice are missing"
    )


@pytest.mark.parametrize("answer", [{}, {"operations": 1, "balances": []}, {"operations": [], "balances": [{}]}])
def test_a_dry_run_of_another_form_is_a_wrong_answer(answer: object) -> None:
    chain = ScriptedChain()
    chain.extra["simulate_transaction"] = lambda _: answer
    with pytest.raises(WrongAnswer):
        asyncio.run(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ").simulate())


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("get_dynamic_global_properties", {"head_block_id": "zz"}),
        ("get_dynamic_global_properties", {}),
        ("get_config", {"CHAIN_ID": "00"}),
        ("get_config", {}),
        ("lookup_account_names", []),
        ("lookup_account_names", [{}]),
        ("lookup_account_names", [{"name": "mallory"}]),
        ("lookup_account_names", [7]),
    ],
)
def test_answers_of_another_form_are_wrong_answers(method: str, answer: object) -> None:
    chain = ScriptedChain()
    chain.extra[method] = lambda *_: answer
    with pytest.raises(WrongAnswer):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ"))


def test_a_node_cannot_have_accounts_looked_up_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_facts, "MOST_ACCOUNTS", 30)
    chain = ScriptedChain()
    chain.accounts["alice"] = (authority(1, {f"member-{number}": 1 for number in range(40)}),) * 3
    with pytest.raises(WrongAnswer, match="more than 30 accounts"):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ"))
    assert chain.count("lookup_account_names") == 1


def test_a_circle_of_accounts_is_asked_for_once() -> None:
    chain = ScriptedChain()
    chain.accounts["alice"] = (ALICES[0], authority(1, {"bob": 1}), ALICES[2])
    chain.accounts["bob"] = (ALICES[0], authority(1, {"alice": 1}, FRIEND), ALICES[2])
    assert prepared(builder(chain, FRIEND).transfer("alice", "bob", "1.000 VIZ")).missing is None
    assert chain.count("lookup_account_names") == 1


def test_a_text_for_another_chain_than_the_one_that_is_meant_is_refused() -> None:
    text = prepared(builder(ScriptedChain(), ACTIVE).transfer("alice", "bob", "1.000 VIZ")).to_text()

    assert PreparedTransaction.from_text(text, chain_id=TESTNET.chain_id).missing is None
    with pytest.raises(WrongChain) as wrong:
        PreparedTransaction.from_text(text, chain_id=bytes(32))
    assert wrong.value.found == TESTNET.chain_id.hex()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(["get_config", "get_dynamic_global_properties", "lookup_account_names", "get_agent_permissions"]),
    JSON,
    st.integers(0, 12),
    st.booleans(),
)
def test_whatever_a_node_answers_is_read_or_an_error_of_the_client(
    method: str, garbage: Any, place: int, is_whole: bool
) -> None:
    chain = ScriptedChain()

    def spoilt(*arguments: Any) -> object:
        if is_whole:
            return garbage
        plain = ScriptedChain()
        plain.agents = [{"agent_name": "a", "agent_key": "", "operations": [], "expiration": "", "expired": False}]
        usual = plain.usual(method, *arguments)
        record = usual[0] if isinstance(usual, list) else usual
        record[list(record)[place % len(record)]] = garbage
        return usual

    chain.extra[method] = spoilt
    made = builder(chain, STRANGER).transfer("alice", "bob", "1.000 VIZ")
    with suppress(ClientError):
        prepared(made)


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
