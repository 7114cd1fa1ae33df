from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, PublicKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.invites import (
    ClaimInviteBalance,
    CreateInvite,
    InviteRegistration,
    UseInviteBalance,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money.invites import CLAIMED, INVITES, REGISTERED, UNUSED, VESTED, Invite
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    authority_for,
    carry_out,
    change,
    create_account,
    key_of,
    metadata_of,
    pass_time,
    refuses,
)

LedgerAt = Callable[[int], Ledger]

SECRET = PrivateKey(sha256(b"invite"))
LEAST = 10_000
NEWCOMER = AccountName("newcomer")
NEW_KEY = key_of("newcomer's")

NOT_FOUND = "itr != idx.end(): Invite was not found."


def create(balance: int = LEAST, key: PublicKey = SECRET.public) -> CreateInvite:
    return CreateInvite(ALICE, tokens(balance), key)


def claim(secret: str = SECRET.wif) -> ClaimInviteBalance:
    return ClaimInviteBalance(BOB, CAROL, secret)


def register(secret: str = SECRET.wif, name: AccountName = NEWCOMER) -> InviteRegistration:
    return InviteRegistration(BOB, name, secret, NEW_KEY)


def use(secret: str = SECRET.wif) -> UseInviteBalance:
    return UseInviteBalance(BOB, CAROL, secret)


EACH_USE: list[Callable[[str], Operation]] = [claim, register, use]


def with_accounts(ledger: Ledger) -> Ledger:
    """Shares cost a thousandth of a token each, as the sender has some."""
    create_account(ledger, ALICE, balance=10 * LEAST, shares=1_000_000)
    create_account(ledger, BOB)
    create_account(ledger, CAROL)
    return ledger


@pytest.fixture
def funded(ledger: Ledger) -> Ledger:
    return with_accounts(ledger)


def invite_of(ledger: Ledger) -> Invite:
    return ledger.store.get(INVITES, 0)


def test_an_invite_holds_the_creators_tokens(funded: Ledger) -> None:
    assert carry_out(funded, create()) == []

    invite = invite_of(funded)
    assert (invite.creator, invite.invite_key, invite.balance) == (ALICE, SECRET.public, LEAST)
    assert (invite.create_time, invite.status, invite.receiver, invite.invite_secret) == (NOW, UNUSED, "", "")
    assert funded.account(ALICE).balance == 9 * LEAST


def test_an_invite_needs_the_tokens_a_key_and_the_least_balance(funded: Ledger) -> None:
    refuses(
        funded,
        create(10 * LEAST + 1, NULL_KEY),
        "creator.balance >= o.balance: Insufficient balance to create invite.",
    )
    refuses(
        funded,
        create(LEAST - 1, NULL_KEY),
        "o.invite_key != public_key_type(): Invite key cannot be blank.",
    )
    refuses(
        funded,
        create(LEAST - 1),
        "o.balance >= median_props.create_invite_min_balance: "
        "Invite balance must be more or equal consensus create_invite_min_balance.",
    )
    carry_out(funded, create(10 * LEAST))


def test_before_hardfork_9_an_invite_holds_the_price_of_an_account(ledger_at: LedgerAt) -> None:
    ledger = with_accounts(ledger_at(8))

    refuses(
        ledger,
        create(999),
        "o.balance >= median_props.account_creation_fee: "
        "Invite balance must be more or equal consensus account_creation_fee.",
    )
    carry_out(ledger, create(1_000))


def test_a_key_is_for_one_invite_even_when_that_is_used(funded: Ledger) -> None:
    carry_out(funded, create())
    carry_out(funded, claim())

    refuses(
        funded,
        create(),
        "itr == idx.end(): Invite with same key was found. Use another invite key.",
    )


def test_a_claim_pays_the_receiver(funded: Ledger) -> None:
    carry_out(funded, create())
    pass_time(funded, 5)

    assert carry_out(funded, claim()) == []

    invite = invite_of(funded)
    assert funded.account(CAROL).balance == LEAST
    assert (invite.status, invite.receiver, invite.invite_secret) == (CLAIMED, CAROL, SECRET.wif)
    assert (invite.balance, invite.claimed_balance, invite.claim_time) == (0, LEAST, NOW + 5)


def test_using_an_invite_gives_shares(funded: Ledger) -> None:
    carry_out(funded, create())

    carry_out(funded, use())

    invite = invite_of(funded)
    assert (funded.account(CAROL).balance, funded.account(CAROL).vesting_shares) == (0, LEAST * 1_000)
    assert (invite.status, invite.receiver, invite.claimed_balance) == (VESTED, CAROL, LEAST)


def test_a_registration_opens_an_account_of_one_key(funded: Ledger) -> None:
    carry_out(funded, create())

    carry_out(funded, register())

    account, authority, invite = funded.account(NEWCOMER), authority_for(funded, NEWCOMER), invite_of(funded)
    assert (account.memo_key, account.created, account.vesting_shares) == (NEW_KEY, NOW, LEAST * 1_000)
    assert (account.recovery_account, account.referrer) == (ALICE, ALICE)
    assert (account.energy, account.last_vote_time) == (10_000, 0)
    assert authority.master == authority.active == authority.regular == authority_of(NEW_KEY)
    assert metadata_of(funded, NEWCOMER) == ""
    assert (invite.status, invite.receiver, invite.claimed_balance) == (REGISTERED, NEWCOMER, LEAST)


def test_a_registration_takes_a_free_name(funded: Ledger) -> None:
    carry_out(funded, create())

    refuses(
        funded,
        register(name=CAROL),
        "could not insert object, most likely a uniqueness constraint was violated: ",
    )


@pytest.mark.parametrize("operation", EACH_USE)
def test_an_invite_is_used_once(funded: Ledger, operation: Callable[[str], Operation]) -> None:
    carry_out(funded, create())
    carry_out(funded, claim())

    refuses(funded, operation(SECRET.wif), "false: Invite already claimed.")


@pytest.mark.parametrize("operation", EACH_USE)
def test_the_secret_is_that_of_an_invite(funded: Ledger, operation: Callable[[str], Operation]) -> None:
    refuses(funded, operation(""), "o.invite_secret.size(): Invite secret cannot be blank.")
    refuses(funded, operation("secret"), "invite_secret: Invite secret must be WIF.")
    refuses(funded, operation(SECRET.wif), NOT_FOUND)


@pytest.mark.parametrize("operation", EACH_USE)
def test_a_secret_of_zeros_is_no_key(funded: Ledger, operation: Callable[[str], Operation]) -> None:
    payload = b"\x80" + bytes(32)
    text = base58.encode(payload + sha256(sha256(payload))[:4])

    refuses(funded, operation(text), "my->_key != empty_priv: ")


def test_a_secret_with_a_short_checksum_is_accepted(funded: Ledger) -> None:
    """Spec 02, section 4.15, quirk: any version byte, one round of sha256."""
    carry_out(funded, create())
    payload = b"\x05" + SECRET.secret

    carry_out(funded, claim(base58.encode(payload + sha256(payload)[:4])))

    assert funded.account(CAROL).balance == LEAST


def test_using_begins_with_hardfork_9(ledger_at: LedgerAt) -> None:
    refuses(
        ledger_at(8),
        use(""),
        "_db.has_hardfork(CHAIN_HARDFORK_9): use_invite_balance not enabled until HF 9",
    )


def test_those_who_take_part_exist(ledger: Ledger) -> None:
    refuses(ledger, create(), "unknown key: ")
    for operation in EACH_USE:
        refuses(ledger, operation(SECRET.wif), "unknown key: ")
    create_account(ledger, BOB)
    refuses(ledger, claim(""), "unknown key: ")
    refuses(ledger, use(""), "unknown key: ")


def test_a_registration_looks_at_the_secret_first(ledger: Ledger) -> None:
    refuses(ledger, register(""), "o.invite_secret.size(): Invite secret cannot be blank.")


def test_an_invites_shares_are_worth_the_price_of_the_moment(funded: Ledger) -> None:
    carry_out(funded, create())
    change(funded, funded.globals, total_vesting_fund=2_000, total_vesting_shares=1_000_000)

    carry_out(funded, use())

    assert funded.account(CAROL).vesting_shares == LEAST * 500
