from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, COMMITTEE_ACCOUNT, NULL_ACCOUNT
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import Asset, tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.chain.ledgers import (
    ALICE,
    BOB,
    NOW,
    authority_for,
    carry_out,
    create_account,
    key_of,
    metadata_of,
    refuses,
)

LedgerAt = Callable[[int], Ledger]

FEE = 1_000
KEY = key_of("somebody")
KEY_TEXT = public_key_text(KEY)
NUMBERED = AccountName("n1.anonymous")


def transfer(amount: int, memo: str = "", recipient: AccountName = BOB) -> Transfer:
    return Transfer(ALICE, recipient, tokens(amount), memo)


def anonymously(memo: str, amount: int = FEE) -> Transfer:
    return transfer(amount, memo, ANONYMOUS_ACCOUNT)


@pytest.fixture
def funded(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, balance=5_000)
    create_account(ledger, BOB, balance=10)
    return ledger


def test_all_of_a_balance_can_be_transferred(funded: Ledger) -> None:
    assert carry_out(funded, transfer(5_000)) == []

    assert (funded.account(ALICE).balance, funded.account(BOB).balance) == (0, 5_010)


def test_a_transfer_of_more_than_the_balance_is_refused(funded: Ledger) -> None:
    refuses(
        funded,
        transfer(5_001),
        "_db.get_balance(from_account, o.amount.symbol) >= o.amount: "
        "Account does not have sufficient funds for transfer.",
    )


def test_a_transfer_to_oneself_changes_nothing(funded: Ledger) -> None:
    carry_out(funded, transfer(5_000, recipient=ALICE))

    assert funded.account(ALICE).balance == 5_000


def test_a_symbol_that_is_not_the_token_is_refused(funded: Ledger) -> None:
    refuses(funded, Transfer(ALICE, BOB, Asset(1, 0x0058595A03), ""), "false: invalid symbol")


@pytest.mark.parametrize(
    "operation", [transfer(1, recipient=AccountName("nobody")), Transfer(BOB, ALICE, tokens(1), "")]
)
def test_sender_and_recipient_exist(ledger: Ledger, operation: Transfer) -> None:
    create_account(ledger, ALICE, balance=1)

    refuses(ledger, operation, "unknown key: ")


@pytest.mark.parametrize("recipient", [NULL_ACCOUNT, COMMITTEE_ACCOUNT])
def test_what_null_and_committee_receive_stays_until_the_end_of_the_block(
    funded: Ledger, recipient: AccountName
) -> None:
    carry_out(funded, transfer(7, recipient=recipient))

    assert funded.account(recipient).balance == 7


# -- to anonymous


def test_a_key_as_memo_makes_an_account_with_the_next_number(funded: Ledger) -> None:
    assert carry_out(funded, anonymously(KEY_TEXT)) == []

    account = funded.account(NUMBERED)
    assert (account.memo_key, account.created, account.last_vote_time) == (KEY, NOW, NOW)
    assert (account.energy, account.recovery_account, account.valid) == (10_000, NO_NAME, True)
    assert (account.balance, account.vesting_shares) == (0, FEE * 1_000)
    assert funded.account(ANONYMOUS_ACCOUNT).balance == 0
    authority = authority_for(funded, NUMBERED)
    assert authority.master == authority.active == authority.regular == authority_of(KEY)
    assert authority.last_master_update == 0
    assert metadata_of(funded, NUMBERED) == ""
    assert metadata_of(funded, ANONYMOUS_ACCOUNT) == "1"


def test_the_numbers_go_on(funded: Ledger) -> None:
    for _ in range(2):
        carry_out(funded, anonymously(KEY_TEXT))

    assert funded.find_account(AccountName("n2.anonymous")) is not None
    assert metadata_of(funded, ANONYMOUS_ACCOUNT) == "2"


def test_anonymous_takes_no_less_than_the_price_of_an_account(funded: Ledger) -> None:
    refuses(
        funded,
        anonymously("", FEE - 1),
        "o.amount >= median_props.account_creation_fee: Inssufficient amount 1.000 VIZ required, 0.999 VIZ provided.",
    )


def test_without_a_memo_anonymous_keeps_the_tokens(funded: Ledger) -> None:
    carry_out(funded, anonymously(""))

    assert funded.account(ANONYMOUS_ACCOUNT).balance == FEE
    assert metadata_of(funded, ANONYMOUS_ACCOUNT) == "0"


@pytest.mark.parametrize(
    ("memo", "message", "code"),
    [
        ("hello", "base58str.substr(0, prefix_len) == prefix: ", 10),
        ("VIZ", "base58str.size() > prefix_len: ", 10),
        (f" {KEY_TEXT}", "base58str.substr(0, prefix_len) == prefix: ", 10),
        ("VIZ0", "Unable to decode base58 std::string 0", 4),
    ],
)
def test_a_memo_that_is_no_key_is_refused(funded: Ledger, memo: str, message: str, code: int) -> None:
    assert refuses(funded, anonymously(memo), message).code == code


def test_a_login_before_a_colon_names_the_account(funded: Ledger) -> None:
    carry_out(funded, anonymously(f" \t\n\v\f\rcarol.anonymous:{KEY_TEXT}\r\f\v\n\t "))

    account = funded.account(AccountName("carol.anonymous"))
    assert (account.memo_key, account.vesting_shares, account.valid) == (KEY, FEE * 1_000, True)
    assert metadata_of(funded, ANONYMOUS_ACCOUNT) == "0"


def test_a_login_without_a_dot_is_good_too(funded: Ledger) -> None:
    carry_out(funded, anonymously(f"carol:{KEY_TEXT}"))

    assert funded.find_account(AccountName("carol")) is not None


@pytest.mark.parametrize(
    ("memo", "message"),
    [
        (f"bob:{KEY_TEXT}", 'acc == nullptr: Account login "bob" must be free.'),
        (
            f"carol.bob:{KEY_TEXT}",
            (
                "is_valid_domain_name( login_part, CHAIN_ANONYMOUS_ACCOUNT ): "
                "Domain name carol.bob is invalid, creator name anonymous"
            ),
        ),
        (f"c:{KEY_TEXT}", "is_valid_account_name( login_part ): Account name c is invalid"),
        (f"Carol:{KEY_TEXT}", "is_valid_account_name( login_part ): Account name Carol is invalid"),
        (f"{'c' * 33}:{KEY_TEXT}", f"is_valid_account_name( login_part ): Account name {'c' * 33} is invalid"),
        ("carol:", "base58str.size() > prefix_len: "),
        (f"carol: {KEY_TEXT}", "base58str.substr(0, prefix_len) == prefix: "),
        (f"carol:{KEY_TEXT}:x", "Unable to decode base58 std::string " + f"{KEY_TEXT}:x".removeprefix("VIZ")),
    ],
)
def test_a_login_that_cannot_be_is_refused(funded: Ledger, memo: str, message: str) -> None:
    refuses(funded, anonymously(memo), message)


def test_before_hardfork_6_a_colon_means_nothing(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(5)
    create_account(ledger, ALICE, balance=5_000)

    refuses(ledger, anonymously(f"carol:{KEY_TEXT}"), "base58str.substr(0, prefix_len) == prefix: ")
    carry_out(ledger, anonymously(KEY_TEXT))

    assert ledger.account(NUMBERED).memo_key == KEY


@pytest.mark.parametrize(
    ("login", "name"),
    [("Carol", "Carol"), ("carol.bob", "carol.bob"), ("", ""), ("c" * 40, "c" * 32)],
)
def test_hardfork_6_lets_bad_logins_in_and_marks_them(ledger_at: LedgerAt, login: str, name: str) -> None:
    ledger = ledger_at(6)
    create_account(ledger, ALICE, balance=5_000)

    carry_out(ledger, anonymously(f"{login}:{KEY_TEXT}"))

    assert not ledger.account(AccountName(name)).valid


def test_hardfork_6_asks_for_a_free_login(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(6)
    create_account(ledger, ALICE, balance=5_000)

    refuses(ledger, anonymously(f"alice:{KEY_TEXT}"), 'acc == nullptr: Account login "alice" must be free.')


def test_a_number_that_was_named_before_is_a_violation(funded: Ledger) -> None:
    create_account(funded, NUMBERED)

    refuses(
        funded,
        anonymously(KEY_TEXT),
        "could not insert object, most likely a uniqueness constraint was violated: ",
    )
    assert metadata_of(funded, ANONYMOUS_ACCOUNT) == "0"
