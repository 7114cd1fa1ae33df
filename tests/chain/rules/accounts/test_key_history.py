"""What is kept of keys that were replaced, how soon they may be again, and what becomes of agents meanwhile
(spec 10, sections 5, 6 and 12.5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.chain.steps.payments import end_auctions
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.operations.accounts.account_market import BuyAccount
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate, RecoverAccount
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import KEY_HISTORY, KEY_HISTORY_BY_KEY, Role
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
    AccountRecoveryRequest,
    MasterAuthorityHistory,
)
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    HEAD,
    NOW,
    authority_for,
    carry_out,
    change,
    create_account,
    key_of,
    pass_time,
    refuses,
    run,
    set_median,
)

LedgerAt = Callable[[int], Ledger]
Row = tuple[int, PublicKey, AccountName, int, int, int, int]

K1, K2 = sorted((key_of("one"), key_of("two")))
K3, K4, K5 = (key_of(word) for word in ("three", "four", "five"))
HOUR = 3_600

LIMIT = "now - _db.last_key_change(o.account, role) > CHAIN_MASTER_UPDATE_LIMIT: "
TOO_SOON = {
    "active": f"{LIMIT}Active authority can only be changed once an hour.",
    "regular": f"{LIMIT}Regular authority can only be changed once an hour.",
    "memo_key": f"{LIMIT}Memo key can only be changed once an hour.",
}
MASTER_TOO_SOON = (
    "_db.head_block_time() - account_auth.last_master_update > CHAIN_MASTER_UPDATE_LIMIT: "
    "Master authority can only be updated once an hour."
)


def update(**fields: Any) -> AccountUpdate:
    values = {"master": None, "active": None, "regular": None, "memo_key": NULL_KEY, "json_metadata": ""} | fields
    return AccountUpdate(ALICE, **values)


def rows(ledger: Ledger) -> list[Row]:
    assert all(row.account == ALICE for row in ledger.store.scan(KEY_HISTORY))
    return [
        (
            row.role,
            row.key,
            row.auth_account,
            row.weight,
            row.weight_threshold,
            row.valid_until_block,
            row.valid_until_time,
        )
        for row in ledger.store.scan(KEY_HISTORY)
    ]


def agents(ledger: Ledger) -> int:
    return len(list(agents_of(ledger.store, ALICE)))


def give_agents(ledger: Ledger) -> None:
    """One that lives for ever and one that has expired, and one of somebody else."""
    for name, account, expiration in (("a", ALICE, 0), ("b", ALICE, ledger.now + 1), ("a", BOB, 0)):
        grant = SetAgentPermission(account, AccountName(name), K5, ("transfer",), expiration, (), ())
        carry_out(ledger, grant)
    pass_time(ledger, 1)


def prepared(ledger: Ledger) -> Ledger:
    create_account(ledger, BOB)
    create_account(ledger, CAROL, balance=100)
    create_account(ledger, ALICE, memo_key=K1)
    change(
        ledger,
        authority_for(ledger, ALICE),
        active=authority_of(K1),
        regular=Authority(3, {BOB: 1}, {K1: 2, K2: 1}),
    )
    return ledger


@pytest.fixture
def ledger(ledger_at: LedgerAt) -> Ledger:
    return prepared(ledger_at(15))


def test_what_is_replaced_is_kept_role_by_role(ledger: Ledger) -> None:
    """The rows of spec 10, section 12.5."""
    carry_out(ledger, update(active=authority_of(K3), regular=authority_of(K4), memo_key=K5))
    until = (HEAD, NOW)
    assert rows(ledger) == [
        (Role.ACTIVE, K1, NO_NAME, 1, 1, *until),
        (Role.REGULAR, K1, NO_NAME, 2, 3, *until),
        (Role.REGULAR, K2, NO_NAME, 1, 3, *until),
        (Role.REGULAR, NULL_KEY, BOB, 1, 3, *until),
        (Role.MEMO, K1, NO_NAME, 0, 0, *until),
    ]
    found = [row.id for row in ledger.store.scan(KEY_HISTORY_BY_KEY, lower=(K1,), upper=(K1,))]
    assert found == [0, 1, 4]


def test_an_authority_of_nobody_leaves_a_mark(ledger: Ledger) -> None:
    change(ledger, authority_for(ledger, ALICE), active=Authority(0, {}, {}))
    carry_out(ledger, update(active=authority_of(K1)))
    assert rows(ledger) == [(Role.ACTIVE, NULL_KEY, NO_NAME, 0, 0, HEAD, NOW)]


def test_a_memo_key_that_nobody_had_is_kept_as_none(ledger: Ledger) -> None:
    change(ledger, ledger.account(ALICE), memo_key=NULL_KEY)
    carry_out(ledger, update(memo_key=K1))
    assert rows(ledger) == [(Role.MEMO, NULL_KEY, NO_NAME, 0, 0, HEAD, NOW)]


@pytest.mark.parametrize(
    "other", [Authority(2, {}, {K1: 1}), Authority(1, {}, {K1: 2}), Authority(1, {BOB: 1}, {K1: 1})]
)
def test_every_part_of_an_authority_counts_as_a_change(ledger: Ledger, other: Authority) -> None:
    carry_out(ledger, update(active=other))
    assert [row[:3] for row in rows(ledger)] == [(Role.ACTIVE, K1, NO_NAME)]
    refuses(ledger, update(active=authority_of(K1)), TOO_SOON["active"])


def test_a_master_authority_is_kept_too(ledger: Ledger) -> None:
    carry_out(ledger, update(master=authority_of(K3)))
    assert rows(ledger) == [(Role.MASTER, key_of(ALICE), NO_NAME, 1, 1, HEAD, NOW)]
    pass_time(ledger, HOUR)
    refuses(ledger, update(master=authority_of(K4)), MASTER_TOO_SOON)
    pass_time(ledger, 1)
    # The same again: remembered for recovery as before, but nothing was replaced.
    carry_out(ledger, update(master=authority_of(K3)))
    assert len(rows(ledger)) == 1
    assert len(list(ledger.store.scan(MASTER_AUTHORITY_HISTORY))) == 2


CHANGES: dict[str, tuple[Any, Any]] = {
    "active": (authority_of(K3), authority_of(K4)),
    "regular": (authority_of(K3), authority_of(K4)),
    "memo_key": (K3, K4),
}


@pytest.mark.parametrize("role", CHANGES)
def test_each_role_changes_once_an_hour(ledger: Ledger, role: str) -> None:
    first, second = CHANGES[role]
    carry_out(ledger, update(**{role: first}))
    refuses(ledger, update(**{role: second}), TOO_SOON[role])
    carry_out(ledger, update(**{role: first}))
    others = {each: values[0] for each, values in CHANGES.items() if each != role}
    carry_out(ledger, update(**others))
    pass_time(ledger, HOUR)
    refuses(ledger, update(**{role: second}), TOO_SOON[role])
    pass_time(ledger, 1)
    carry_out(ledger, update(**{role: second}))


def test_before_hardfork_15_nothing_is_kept_or_limited(ledger_at: LedgerAt) -> None:
    ledger = prepared(ledger_at(14))
    for first, second in (K3, K4), (K4, K3):
        carry_out(ledger, update(active=authority_of(first), regular=authority_of(second), memo_key=first))
    assert rows(ledger) == []


def test_the_limits_are_looked_at_in_order_and_before_that_of_the_master(ledger: Ledger) -> None:
    everything = {"active": authority_of(K3), "regular": authority_of(K3), "memo_key": K3}
    carry_out(ledger, update(master=authority_of(K3), **everything))
    pending = {"active": authority_of(K4), "regular": authority_of(K4), "memo_key": K4}
    for role in list(pending):
        refuses(ledger, update(master=authority_of(K4), **pending), TOO_SOON[role])
        del pending[role]
    refuses(ledger, update(master=authority_of(K4)), MASTER_TOO_SOON)


def test_a_refused_update_keeps_nothing(ledger: Ledger) -> None:
    refuses(
        ledger, update(active=authority_of(K3), regular=Authority(1, {AccountName("ghost"): 1}, {})), "unknown key: "
    )
    assert (rows(ledger), ledger.store.next_id(KEY_HISTORY)) == ([], 0)


# -- agents


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"master": authority_of(K3)}, 0),
        ({"master": authority_of(key_of(ALICE))}, 0),
        ({"active": authority_of(K3)}, 0),
        ({"active": authority_of(K1)}, 0),
        ({"master": authority_of(K3), "active": authority_of(K3)}, 0),
        ({"regular": authority_of(K3), "memo_key": K3, "json_metadata": "{}"}, 2),
        ({}, 2),
    ],
)
def test_new_master_and_active_authorities_are_the_end_of_agents(
    ledger: Ledger, fields: dict[str, Any], left: int
) -> None:
    give_agents(ledger)
    carry_out(ledger, update(**fields))
    assert agents(ledger) == left
    assert len(list(agents_of(ledger.store, BOB))) == 1


def recovered(ledger: Ledger) -> None:
    request = AccountRecoveryRequest(account_to_recover=ALICE, new_master_authority=authority_of(K3), expires=NOW + 9)
    ledger.store.create(ACCOUNT_RECOVERY_REQUESTS, request)
    history = MasterAuthorityHistory(account=ALICE, previous_master_authority=authority_of(K4), last_valid_time=NOW)
    ledger.store.create(MASTER_AUTHORITY_HISTORY, history)
    carry_out(ledger, RecoverAccount(ALICE, authority_of(K3), authority_of(K4), ()))


def bought(ledger: Ledger) -> None:
    set_median(ledger, account_creation_fee=tokens(10))
    change(ledger, ledger.account(ALICE), account_on_sale=True, account_seller=BOB, account_offer_price=50)
    carry_out(ledger, BuyAccount(CAROL, ALICE, tokens(50), K3, tokens(10)))


def auctioned(ledger: Ledger) -> None:
    offer = {"account_on_sale": True, "account_seller": BOB, "account_offer_price": 50}
    bid = {"account_on_auction": True, "current_bid": 50, "current_bidder": CAROL, "current_bidder_key": K3}
    change(ledger, ledger.account(ALICE), account_on_sale_start_time=ledger.now, **offer, **bid)
    run(ledger, end_auctions)


def test_recovery_keeps_the_master_and_ends_agents(ledger: Ledger) -> None:
    give_agents(ledger)
    recovered(ledger)
    assert rows(ledger) == [(Role.MASTER, key_of(ALICE), NO_NAME, 1, 1, HEAD, NOW + 1)]
    assert agents(ledger) == 0
    # The owner is not kept from changing the rest at once.
    carry_out(ledger, update(active=authority_of(K3), regular=authority_of(K3), memo_key=K3))


@pytest.mark.parametrize("sell", [bought, auctioned])
def test_a_sale_keeps_everything_and_ends_agents(ledger: Ledger, sell: Callable[[Ledger], None]) -> None:
    give_agents(ledger)
    sell(ledger)
    assert [(row[0], *row[5:]) for row in rows(ledger)] == [
        (role, HEAD, NOW + 1)
        for role in (Role.MASTER, Role.ACTIVE, Role.REGULAR, Role.REGULAR, Role.REGULAR, Role.MEMO)
    ]
    assert rows(ledger)[-1][1] == K1
    assert agents(ledger) == 0
    # The buyer waits an hour; the same key again is no change.
    carry_out(ledger, update(active=authority_of(K3), memo_key=K3))
    pass_time(ledger, HOUR)
    for role, (_, second) in CHANGES.items():
        refuses(ledger, update(**{role: second}), TOO_SOON[role])
    refuses(ledger, update(master=authority_of(K4)), MASTER_TOO_SOON)
    pass_time(ledger, 1)
    carry_out(
        ledger,
        update(master=authority_of(K4), active=authority_of(K4), regular=authority_of(K4), memo_key=K4),
    )


@pytest.mark.parametrize("sell", [recovered, bought, auctioned])
def test_before_hardfork_15_sales_and_recovery_keep_nothing(
    ledger_at: LedgerAt, sell: Callable[[Ledger], None]
) -> None:
    ledger = prepared(ledger_at(14))
    sell(ledger)
    assert rows(ledger) == []
    assert authority_for(ledger, ALICE).master == authority_of(K3)
