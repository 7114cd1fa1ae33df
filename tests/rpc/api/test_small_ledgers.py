"""Answers from ledgers made by hand, for what recorded chains do not hold at a height that is soon reached."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    PAID_SUBSCRIPTIONS,
    PaidSubscribe,
    PaidSubscription,
)
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, create_account, create_validator, fresh_ledger
from tests.rpc.api.serving import answers_of


def subscribe(ledger: Ledger, subscriber: AccountName, *, level: int, active: bool, auto_renewal: bool) -> None:
    terms = PaidSubscribe(
        subscriber=subscriber, creator=ALICE, level=level, amount=100, active=active, auto_renewal=auto_renewal
    )
    ledger.store.create(PAID_SUBSCRIBES, terms)


def test_subscriptions_are_shown_to_both_sides(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    ledger.store.create(PAID_SUBSCRIPTIONS, PaidSubscription(creator=ALICE, levels=3, amount=100, update_time=NOW))
    subscribe(ledger, CAROL, level=2, active=True, auto_renewal=True)
    subscribe(ledger, BOB, level=3, active=True, auto_renewal=False)
    subscribe(ledger, AccountName("dan"), level=1, active=False, auto_renewal=True)
    with answers_of(ledger, tmp_path) as ask:
        options = ask("paid_subscription_api", "get_paid_subscription_options", "alice")["result"]
        status = ask("paid_subscription_api", "get_paid_subscription_status", "bob", "alice")["result"]
        lists = [
            ask("paid_subscription_api", f"get_{kind}_paid_subscriptions", name)["result"]
            for kind in ("active", "inactive")
            for name in ("bob", "dan")
        ]
    assert list(options.items())[6:] == [
        ("active_subscribers", ["carol", "bob"]),
        ("active_subscribers_count", 2),
        ("active_subscribers_summary_amount", 500),
        ("active_subscribers_with_auto_renewal", ["carol"]),
        ("active_subscribers_with_auto_renewal_count", 1),
        ("active_subscribers_with_auto_renewal_summary_amount", 200),
    ]
    assert list(status.items())[:4] == [("subscriber", "bob"), ("creator", "alice"), ("level", 3), ("amount", 100)]
    assert list(status)[4:] == ["period", "start_time", "next_time", "end_time", "active", "auto_renewal"]
    assert lists == [["alice"], [], [], ["alice"]]


def on_sale(ledger: Ledger, name: str, start: int, buyer: str = "") -> None:
    create_account(
        ledger,
        name,
        account_on_sale=True,
        account_on_sale_start_time=start,
        account_offer_price=1_000,
        target_buyer=AccountName(buyer),
        subaccount_on_sale=True,
    )


def test_sales_are_counted_from_the_second_candidate_on_as_in_the_reference(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    on_sale(ledger, "later", NOW + 1)
    on_sale(ledger, "first", NOW)
    on_sale(ledger, "second", NOW - 1)
    on_sale(ledger, "kept", NOW + 1, buyer="bob")
    with answers_of(ledger, tmp_path) as ask:

        def names(method: str, *arguments: int) -> list[str]:
            return [each["account"] for each in ask("database_api", method, *arguments)["result"]]

        assert names("get_accounts_on_sale", 0, 10) == ["first", "second"]
        # The first candidate is never looked at: that it is not due yet makes the offset one too few.
        assert names("get_accounts_on_sale", 1, 10) == ["first", "second"]
        assert names("get_accounts_on_sale", 2, 10) == ["second"]
        assert names("get_accounts_on_sale", 9, 10) == []
        assert names("get_accounts_on_auction", 0, 10) == ["later", "first"]
        assert names("get_subaccounts_on_sale", 1, 2) == ["first", "second"]


def test_sales_with_a_prefix_stand_in_the_order_of_names_and_are_counted_plainly(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    for name, start in (("bob", NOW), ("bert", NOW), ("bea", NOW + 1), ("ann", NOW), ("b", NOW)):
        on_sale(ledger, name, start)
    with answers_of(ledger, tmp_path) as ask:

        def names(method: str, *arguments: object) -> list[str]:
            return [each["account"] for each in ask("database_api", method, *arguments)["result"]]

        assert names("get_accounts_on_sale", 0, 10, "b") == ["b", "bert", "bob"]
        assert names("get_accounts_on_sale", 1, 1, "b") == ["bert"]
        assert names("get_accounts_on_sale", 0, 10, "B") == []
        assert names("get_accounts_on_sale", 0, 10, "b" * 40) == []
        assert names("get_accounts_on_auction", 0, 10, "be") == ["bea", "bert"]
        assert names("get_subaccounts_on_sale", 1, 10, "be") == ["bert"]
        assert names("get_accounts_on_sale", 0, 10, "") == names("get_accounts_on_sale", 0, 10)
        refused = ask("database_api", "get_accounts_on_sale", 0, 1001, "b")["error"]["message"]
        assert refused == "Assert Exception (10)\nlimit <= 1000: \n"


def test_votes_of_an_account_stand_in_the_order_of_text(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    voter = create_account(ledger, "alice", validators_voted_for=3)
    for name in ("zz", "abcdefgha", "b"):
        validator = create_validator(ledger, name)
        ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=validator.id, account=voter.id))
    with answers_of(ledger, tmp_path) as ask:
        (account,) = ask("database_api", "get_accounts", ["alice"])["result"]
        (looked_up,) = ask("database_api", "lookup_account_names", ["alice"])["result"]
    assert account["validator_votes"] == ["abcdefgha", "b", "zz"]
    assert looked_up["validator_votes"] == []


def test_validators_are_found_under_the_name_that_their_api_had_before(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    create_validator(ledger, "bob")
    with answers_of(ledger, tmp_path) as ask:
        record = ask("validator_api", "get_validator_by_account", "bob")
        assert record["result"]["owner"] == "bob"
        assert ask("witness_api", "get_witness_by_account", "bob") == record
        assert "Could not find API witness" in ask("witness", "get_witness_count")["error"]["message"]
