"""Operations that people send, each by its own command, from the wallet into a block of a chain at hardfork 15."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.evaluators.markets.bets import commitment_of
from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.fields import SENDABLE, operation_named
from ledgerd.wallet.node.client import NodeClient
from tests.node.processes import NodeProcess
from tests.wallet.test_on_a_chain import Person

OLD = PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY)
NEW, NEWER, INVITE, OTHER_INVITE = (PrivateKey(bytes([each]) * 32) for each in (0x31, 0x32, 0x33, 0x34))
OLD_KEY, NEW_KEY, NEWER_KEY, INVITE_KEY, OTHER_INVITE_KEY = (
    public_key_text(each.public) for each in (OLD, NEW, NEWER, INVITE, OTHER_INVITE)
)
SECRET = ("--invite-secret-file", "@invite")
ESCROW = ("--escrow-id", "1")

TERMS = (
    *("0", "https://example.org/rain", "100", "0.000 VIZ", "100", "200.000 VIZ", "+1h", "+3d"),
    *("--outcomes", "Yes,No", "--allow-early-resolution", "--dispute-penalty-percent", "2000"),
)
"""Of a market of two outcomes, in which can be bet for an hour."""
HOUR_PASSES = ("time-passes", "3700")

STORY: tuple[tuple[str, ...], ...] = (
    ("transfer", "alice", "bob", "1.000", "VIZ"),
    ("vest", "alice", "alice", "100.000", "VIZ"),
    ("withdraw", "alice", "1.000000", "SHARES"),
    ("route-withdrawal", "alice", "bob", "5000", "--auto-vest"),
    ("delegate", "alice", "bob", "100.000000", "SHARES"),
    ("account-create", "1.000 VIZ", "1000.000000 SHARES", "viz", "newcomer", OLD_KEY, OLD_KEY, OLD_KEY, OLD_KEY),
    ("account-metadata", "alice", '{"profile":{"name":"Alice"}}'),
    ("change-keys", "charlie", OLD_KEY, "--regular", NEW_KEY),
    ("declare-validator", "dan", "https://example.org", NEW_KEY),
    ("vote-for-validator", "alice", "dan"),
    ("vote-for-validator", "alice", "dan", "--no-approve"),
    ("set-reward-sharing", "dan", "1000"),
    ("set-proxy", "bob", "alice"),
    ("custom", "notes", '{"a":[1,2]}', "--required-regular-auths", "alice"),
    ("change-recovery-account", "alice", "bob"),
    ("escrow-transfer", "alice", "bob", "5.000 VIZ", "charlie", "0.100 VIZ", "+1h", "+2h", *ESCROW),
    ("escrow-approve", "alice", "bob", "charlie", "bob", *ESCROW),
    ("escrow-approve", "alice", "bob", "charlie", "charlie", *ESCROW),
    ("escrow-dispute", "alice", "bob", "charlie", "alice", *ESCROW),
    ("escrow-release", "alice", "bob", "charlie", "charlie", "bob", "5.000 VIZ", *ESCROW),
    ("request-funds", "alice", "https://example.org", "bob", "1.000 VIZ", "2.000 VIZ", "432000"),
    ("vote-for-request", "bob", "1", "10000"),
    ("cancel-request", "alice", "1"),
    ("create-invite", "alice", "10.000 VIZ", INVITE_KEY),
    ("claim-invite-balance", "bob", "bob", *SECRET),
    ("award", "alice", "bob", "100", "--beneficiaries", '[{"account":"dan","weight":1000}]'),
    ("fixed-award", "alice", "bob", "0.001 VIZ", "1000"),
    ("set-paid-subscription", "alice", "https://example.org", "2", "1.000 VIZ", "30"),
    ("paid-subscribe", "bob", "alice", "1", "1.000 VIZ", "30", "--no-auto-renewal"),
    ("set-subaccount-price", "alice", "alice", "5.000 VIZ", "--subaccount-on-sale"),
    ("target-account-sale", "alice", "alice", "bob", "50.000 VIZ", "--account-on-sale"),
    ("transfer", "alice", "newcomer", "20.000 VIZ"),
    ("set-account-price", "newcomer", "viz", "5.000 VIZ", "--account-on-sale"),
    ("set-agent-permission", "alice", "bot", NEW_KEY, "--operations", "award,transfer", "--expiration", "+1d"),
    ("pm-oracle-register", "frank", "5000.000 VIZ", "100", "0.000 VIZ", "https://example.org"),
    ("pm-create-market", "alice", "frank", *TERMS, "--allow-cancellation"),
    ("pm-oracle-accept-market", "frank", "0", "100", "0.000 VIZ"),
    ("pm-place-bet", "bob", "0", "20.000 VIZ", "--side", "0"),
    ("pm-place-bet", "dan", "0", "10.000 VIZ", "--side", "0"),
    ("pm-cancel-bet", "dan", "1"),
    ("pm-transfer-position", "bob", "0", "charlie", "0"),
    ("pm-add-liquidity", "bob", "0", "100.000 VIZ"),
    HOUR_PASSES,
    ("pm-resolve-market", "frank", "0", "--winning-outcome", "1", "--decision-reason", "no rain"),
    ("pm-dispute-create", "charlie", "0", "three stations measured rain", "--proposed-outcome", "0"),
    ("pm-dispute-oracle-respond", "frank", "0", "measured twice"),
    ("pm-dispute-vote", "viz", "0", "10000", "--vote-outcome", "0"),
    ("pm-create-market", "alice", "oracle", *TERMS, "--dispute-mode", "1", "--dispute-resolver", "chuck"),
    ("pm-oracle-accept-market", "oracle", "1", "100", "0.000 VIZ"),
    ("pm-place-bet", "bob", "1", "20.000 VIZ", "--side", "1"),
    HOUR_PASSES,
    ("pm-resolve-market", "oracle", "1", "--winning-outcome", "0"),
    ("pm-dispute-create", "dan", "1", "it was not so", "--proposed-outcome", "1"),
    (
        "pm-dispute-resolve",
        "chuck",
        "1",
        "500.000 VIZ",
        "--correct-outcome",
        "1",
        "--ban-oracle",
        "--ban-oracle-until",
        "+1d",
    ),
    ("pm-unban", "chuck", "oracle", "--unban-oracle"),
    ("pm-create-market", "alice", "frank", *TERMS),
    ("pm-oracle-accept-market", "frank", "2", "100", "0.000 VIZ"),
    ("pm-no-contest", "frank", "2", "it cannot be decided"),
    ("pm-oracle-register", "viz", "1000000.000 VIZ", "100", "0.000 VIZ", "https://example.org"),
    ("pm-oracle-update", "viz", "--fee-percent", "50"),
    ("pm-lazy-deposit", "bob", "10.000 VIZ"),
    ("versioned-chain-properties-update", "dan", '[4,{"account_creation_fee":"2.000 VIZ"}]'),
    ("chain-properties-update", "dan", '{"account_creation_fee":"1.000 VIZ"}'),
)
"""One after the other, as the state needs it."""


def time_passes(person: Person, seconds: int) -> None:
    with NodeClient(person.url) as node:
        node.call("dev_api", "move_time", seconds)


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    folder = tmp_path_factory.mktemp("every")
    words = ("dev", "--block-time", "0", "--fresh", "--data-dir", str(folder / "data"))
    with (
        NodeProcess(*words, "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0") as node,
        tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime,
    ):
        person = Person(folder, Path(runtime))
        person.url = f"http://127.0.0.1:{node.port()}"
        person.unlocked()
        for name, wif in (("old", PUBLISHED_ACCOUNTS_KEY), ("initiator", PUBLISHED_INITIATOR_KEY), ("new", NEW.wif)):
            person.take(name, wif)
        person.write("invite", INVITE.wif)
        yield person
        person.call("lock")


@pytest.mark.parametrize("words", STORY, ids=lambda words: "-".join(words[:3]))
def test_an_operation_goes_through_the_wallet_into_a_block(person: Person, words: tuple[str, ...]) -> None:
    if words[0] == HOUR_PASSES[0]:
        time_passes(person, int(words[1]))
        return
    operation = operation_named(words[0])
    assert operation is not None
    sent = person.sends(*words)

    assert sent["operations"][0][0] == name_of(operation)
    assert sent["block"] > 0


def in_block(sent: Mapping[str, Any]) -> bool:
    return bool(sent["block"] > 0)


def test_a_stolen_account_is_recovered(person: Person) -> None:
    """Both master keys sign: the one before the theft, and the new one."""
    assert in_block(person.sends("account-update", "frank", OLD_KEY, "--master", NEWER_KEY))
    assert in_block(person.sends("request-account-recovery", "viz", "frank", NEW_KEY))
    sent = person.sends("recover-account", "frank", NEW_KEY, OLD_KEY)
    assert sorted(sent["signing"]) == sorted([NEW_KEY, OLD_KEY])


def test_invites_make_accounts_and_shares(person: Person) -> None:
    person.write("invite", OTHER_INVITE.wif)
    person.sends("create-invite", "alice", "10.000 VIZ", OTHER_INVITE_KEY)
    assert in_block(person.sends("invite-registration", "bob", "invited", NEW_KEY, *SECRET))
    person.write("second", NEWER.wif)
    person.sends("create-invite", "alice", "10.000 VIZ", NEWER_KEY)
    assert in_block(person.sends("use-invite-balance", "bob", "bob", "--invite-secret-file", "@second"))


def test_an_account_is_bought(person: Person) -> None:
    time_passes(person, 700)  # an offer becomes valid after ten minutes
    assert in_block(person.sends("buy-account", "bob", "newcomer", "5.000 VIZ", NEW_KEY, "1.000 VIZ"))


def test_tokens_leave_the_pool(person: Person) -> None:
    time_passes(person, 120)
    assert in_block(person.sends("pm-lazy-withdraw", "bob", "0"))


HIDDEN = commitment_of(3, AccountName("bob"), 0, -1, 5_000, 0, "a salt")

DEEP = tuple("200000.000 VIZ" if each == "200.000 VIZ" else each for each in TERMS)
"""As deep as a market must be in which is bet with a loan."""


def test_hidden_bets_liquidity_and_loans(person: Person) -> None:
    """In a deep market of `viz`, whose pool lends."""
    for words in (
        ("pm-lazy-deposit", "viz", "1000000.000 VIZ"),
        ("pm-create-market", "viz", "viz", *DEEP, "--allow-batch"),
        ("pm-commit-bet", "bob", "3", HIDDEN.hex(), "5.000 VIZ", "2000"),
        ("pm-reveal-bet", "bob", "0", "5.000 VIZ", "a salt", "--side", "0"),
        ("pm-leverage-open", "bob", "3", "0", "300.000 VIZ", "150.000 VIZ", "10"),
        ("pm-leverage-close", "bob", "0"),
        ("pm-leverage-open", "bob", "3", "1", "300.000 VIZ", "150.000 VIZ", "10"),
        ("pm-leverage-convert", "bob", "1", "50"),
    ):
        assert in_block(person.sends(*words)), words
    with NodeClient(person.url) as node:
        (lent,) = node.call("prediction_market_api", "get_market_liquidity", 3, 0, 10)
    assert in_block(person.sends("pm-withdraw-liquidity", "viz", str(lent["id"]), "1.000 VIZ"))


APART = {
    "recover_account",
    "request_account_recovery",
    "account_update",
    "invite_registration",
    "use_invite_balance",
    "buy_account",
    "pm_lazy_withdraw",
    "pm_commit_bet",
    "pm_reveal_bet",
    "pm_withdraw_liquidity",
    "pm_leverage_open",
    "pm_leverage_close",
    "pm_leverage_convert",
}
"""In tests of their own, here."""
ELSEWHERE = {"proposal_create", "proposal_update", "proposal_delete"}
"""In `test_on_a_chain.py`."""


def test_no_operation_is_left_out() -> None:
    told = {name_of(found) for words in STORY if (found := operation_named(words[0])) is not None}

    assert told | APART | ELSEWHERE == {name_of(each) for each in SENDABLE}
