from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.operations.accounts.accounts import ChangeRecoveryAccount, RecoverAccount, RequestAccountRecovery
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
    AccountRecoveryRequest,
    ChangeRecoveryAccountRequest,
    MasterAuthorityHistory,
)
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    authority_for,
    carry_out,
    change,
    create_account,
    create_validator,
    key_of,
    pass_time,
    refuses,
)

LedgerAt = Callable[[int], Ledger]

NEW, OTHER, RECENT = (authority_of(key_of(word)) for word in ("new", "other", "recent"))
OPEN = Authority(0, {}, {})
IMPOSSIBLE = Authority(2, {}, {key_of("new"): 1})
OF_NOBODY = Authority(1, {AccountName("nobody"): 1}, {})
DAY, HOUR, MONTH = 86_400, 3_600, 2_592_000


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    return recoverable(ledger)


def recoverable(ledger: Ledger) -> Account:
    create_account(ledger, BOB)
    create_account(ledger, CAROL)
    return create_account(ledger, ALICE, recovery_account=BOB)


def requests(ledger: Ledger) -> list[AccountRecoveryRequest]:
    return list(ledger.store.scan(ACCOUNT_RECOVERY_REQUESTS))


def wishes(ledger: Ledger) -> list[ChangeRecoveryAccountRequest]:
    return list(ledger.store.scan(CHANGE_RECOVERY_ACCOUNT_REQUESTS))


# -- request_account_recovery


def request(master: Authority = NEW, helper: AccountName = BOB) -> RequestAccountRecovery:
    return RequestAccountRecovery(helper, ALICE, master, ())


def test_a_request_waits_for_a_day(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, request()) == []

    assert requests(ledger) == [AccountRecoveryRequest(0, alice.name, NEW, NOW + DAY)]


def test_a_request_can_be_changed_and_waits_anew(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, request())
    pass_time(ledger, 5)

    carry_out(ledger, request(OTHER))

    assert requests(ledger) == [AccountRecoveryRequest(0, alice.name, OTHER, NOW + DAY + 5)]


def test_an_open_authority_takes_the_request_back(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        request(OPEN),
        "o.new_master_authority.weight_threshold: Cannot recover using an open authority.",
    )
    carry_out(ledger, request())
    carry_out(ledger, request(OPEN))

    assert requests(ledger) == []
    assert alice.recovery_account == BOB


@pytest.mark.parametrize("is_change", [False, True])
def test_the_authority_can_be_reached_and_its_members_exist(ledger: Ledger, alice: Account, is_change: bool) -> None:
    if is_change:
        carry_out(ledger, request())

    refuses(
        ledger,
        request(IMPOSSIBLE),
        "!o.new_master_authority.is_impossible(): Cannot recover using an impossible authority.",
    )
    refuses(ledger, request(OF_NOBODY), "unknown key: ")
    assert alice.recovery_account == BOB


def test_only_the_recovery_account_may_ask(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        request(helper=CAROL),
        "account_to_recover.recovery_account == o.recovery_account: "
        "Cannot recover an account that does not have you as there recovery partner.",
    )
    assert alice.recovery_account == BOB


def test_without_a_recovery_account_the_validator_with_the_most_votes_may_ask(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, recovery_account=NO_NAME)
    create_validator(ledger, BOB, votes=7, counted_votes=0)
    create_validator(ledger, CAROL, votes=6, counted_votes=6)

    for helper in (COMMITTEE_ACCOUNT, CAROL):
        refuses(
            ledger,
            request(helper=helper),
            "_db.get_index<validator_index>().indices().get<by_vote_name>().begin()->owner == o.recovery_account: "
            "Top validator must recover an account with no recovery partner.",
        )
    carry_out(ledger, request(helper=BOB))


def test_who_asks_and_for_whom_exist(ledger: Ledger) -> None:
    refuses(ledger, request(), "unknown key: ")
    create_account(ledger, BOB)
    refuses(ledger, request(), "unknown key: ")


# -- recover_account


def recover(new: Authority = NEW, recent: Authority = RECENT) -> RecoverAccount:
    return RecoverAccount(ALICE, new, recent, ())


def stolen(ledger: Ledger, account: Account) -> None:
    """The account had the recent authority; its recovery account offers the new one."""
    for authority in (OTHER, RECENT):
        ledger.store.create(
            MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory(0, account.name, authority, NOW - 10 * MONTH)
        )
    carry_out(ledger, request())


def test_an_account_is_recovered(ledger: Ledger, alice: Account) -> None:
    stolen(ledger, alice)
    thief = authority_for(ledger, ALICE).master

    assert carry_out(ledger, recover()) == []

    authority = authority_for(ledger, ALICE)
    assert (authority.master, authority.last_master_update) == (NEW, NOW)
    history = [each.previous_master_authority for each in ledger.store.scan(MASTER_AUTHORITY_HISTORY)]
    assert history == [OTHER, RECENT, thief]
    assert alice.last_account_recovery == NOW
    assert requests(ledger) == []


def test_there_must_be_a_request(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        recover(),
        "request != recovery_request_idx.end(): There are no active recovery requests for this account.",
    )
    assert alice.last_account_recovery == 0


def test_the_authority_is_the_one_that_was_offered(ledger: Ledger, alice: Account) -> None:
    stolen(ledger, alice)

    refuses(
        ledger,
        recover(new=OTHER),
        "request->new_master_authority == o.new_master_authority: "
        "New master authority does not match recovery request.",
    )


def test_the_recent_authority_was_one_of_the_account(ledger: Ledger, alice: Account) -> None:
    stolen(ledger, alice)
    history = MasterAuthorityHistory(0, BOB, authority_of(key_of("bob")), NOW)
    ledger.store.create(MASTER_AUTHORITY_HISTORY, history)

    for recent in (history.previous_master_authority, authority_for(ledger, ALICE).master):
        refuses(ledger, recover(recent=recent), "found: Recent authority not found in authority history.")


def test_an_account_is_recovered_once_an_hour(ledger: Ledger, alice: Account) -> None:
    stolen(ledger, alice)
    change(ledger, alice, last_account_recovery=NOW - HOUR)

    refuses(
        ledger,
        recover(),
        "_db.head_block_time() - account.last_account_recovery > CHAIN_MASTER_UPDATE_LIMIT: "
        "Master authority can only be updated once an hour.",
    )
    pass_time(ledger, 1)
    carry_out(ledger, recover())


@pytest.mark.parametrize("hardfork", [8, 9])
def test_a_recovered_account_is_off_sale_since_hardfork_9(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = recoverable(ledger)
    stolen(ledger, alice)
    offer = {
        "account_seller": CAROL,
        "account_offer_price": 5,
        "account_on_sale": True,
        "account_on_sale_start_time": NOW,
    }
    untouched = {"target_buyer": BOB, "account_on_auction": True, "current_bid": 5, "current_bidder": BOB}
    change(ledger, alice, **offer, **untouched)

    carry_out(ledger, recover())

    cleared = dict(zip(offer, (NO_NAME, 0, False, 0), strict=True))
    assert {field: getattr(alice, field) for field in offer} == (cleared if hardfork >= 9 else offer)
    assert {field: getattr(alice, field) for field in untouched} == untouched


def test_who_is_recovered_exists(ledger: Ledger) -> None:
    refuses(ledger, recover(), "unknown key: ")


# -- change_recovery_account


def wish(successor: AccountName) -> ChangeRecoveryAccount:
    return ChangeRecoveryAccount(ALICE, successor, ())


@pytest.mark.parametrize("successor", [BOB, CAROL])
def test_another_recovery_account_has_to_wait(ledger: Ledger, alice: Account, successor: AccountName) -> None:
    assert carry_out(ledger, wish(successor)) == []

    assert wishes(ledger) == [ChangeRecoveryAccountRequest(0, ALICE, successor, NOW + MONTH)]
    assert alice.recovery_account == BOB


def test_a_wish_can_be_changed_and_waits_anew(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, wish(CAROL))
    pass_time(ledger, 5)

    carry_out(ledger, wish(ALICE))

    assert wishes(ledger) == [ChangeRecoveryAccountRequest(0, alice.name, ALICE, NOW + MONTH + 5)]


def test_the_present_recovery_account_takes_a_wish_back(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, wish(CAROL))

    carry_out(ledger, wish(alice.recovery_account))

    assert wishes(ledger) == []


def test_who_wishes_and_for_whom_exist(ledger: Ledger) -> None:
    refuses(ledger, wish(BOB), "unknown key: ")
    create_account(ledger, BOB)
    refuses(ledger, wish(BOB), "unknown key: ")
