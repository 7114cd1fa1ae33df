from __future__ import annotations

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions.proposals import operations_of
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata, AccountUpdate
from ledgerd.protocol.operations.accounts.proposals import ProposalDelete
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.proposals import REQUIRED_APPROVALS
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    carry_out,
    change,
    create_account,
    key_of,
    metadata_of,
    pass_time,
    refuses,
)
from tests.chain.proposing import DAY, TITLE, active, approval, find, pays, proposal, stored

NOBODY = AccountName("nobody")
KEY = key_of("somebody")
MAX_LIFETIME = 2_419_200

IN_REVIEW = (
    "o.active_approvals_to_add.empty() && o.master_approvals_to_add.empty() && "
    "o.regular_approvals_to_add.empty() && o.key_approvals_to_add.empty(): "
    "This proposal is in its review period. No new approvals may be added."
)


def new_master(account: AccountName) -> AccountUpdate:
    return AccountUpdate(account, authority_of(KEY), None, None, KEY, "")


@pytest.fixture
def funded(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE)
    create_account(ledger, BOB, balance=100)
    create_account(ledger, CAROL, balance=100)
    return ledger


def required(ledger: Ledger) -> list[tuple[str, int]]:
    return [(each.account, each.proposal) for each in ledger.store.scan(REQUIRED_APPROVALS)]


def test_a_proposal_keeps_its_operations_and_whom_they_ask_for(funded: Ledger) -> None:
    operations = (pays(BOB), pays(CAROL))

    assert carry_out(funded, proposal(*operations, review_period_time=NOW + 9)) == []

    made = stored(funded)
    assert (made.author, made.title, made.memo) == (ALICE, TITLE, "memo")
    assert (made.expiration_time, made.review_period_time) == (NOW + DAY, NOW + 9)
    assert operations_of(made) == operations
    assert made.required_active_approvals == (BOB, CAROL)
    assert made.required_master_approvals == made.required_regular_approvals == ()
    assert made.available_active_approvals == ()
    assert made.available_key_approvals == ()
    assert required(funded) == [(BOB, made.id), (CAROL, made.id)]


def test_names_are_in_word_order_and_masters_need_not_agree_twice(funded: Ledger) -> None:
    create_account(funded, "anonymously", balance=50)
    operations = (new_master(BOB), pays(BOB), pays(AccountName("anonymously")), pays(CAROL))

    carry_out(funded, proposal(*operations))

    made = stored(funded)
    assert made.required_master_approvals == (BOB,)
    assert made.required_active_approvals == (CAROL, "anonymously")
    assert [name for name, _ in required(funded)] == [BOB, CAROL, "anonymously"]


def test_nothing_of_the_trial_stays(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(BOB, 100)))

    bob = funded.account(BOB)
    assert (bob.balance, bob.average_bandwidth, bob.last_bandwidth_update) == (100, 0, 0)
    assert funded.store.first(KNOWN_TRANSACTIONS) is None


def test_what_is_proposed_must_be_possible_now(funded: Ledger) -> None:
    refuses(
        funded,
        proposal(pays(BOB, 60), pays(BOB, 41)),
        "_db.get_balance(from_account, o.amount.symbol) >= o.amount: "
        "Account does not have sufficient funds for transfer.",
    )
    assert funded.account(BOB).balance == 100


def test_what_is_proposed_must_be_sound_in_itself(funded: Ledger) -> None:
    refuses(
        funded,
        proposal(pays(BOB, 0)),
        "amount.amount > 0: Cannot transfer a negative amount (aka: stealing)",
    )


@pytest.mark.parametrize("title", [TITLE, f"{TITLE}\0 again"])
def test_a_title_is_used_once_by_an_author(funded: Ledger, title: str) -> None:
    carry_out(funded, proposal(pays()))

    refuses(
        funded,
        proposal(pays(), title=title),
        "nullptr == _db.find_proposal(o.author, o.title): Proposal already exists.",
    )
    carry_out(funded, proposal(pays(), author=BOB))


def test_the_author_exists(funded: Ledger) -> None:
    refuses(funded, proposal(pays(), author=NOBODY), "unknown key: ")


@pytest.mark.parametrize(
    ("lifetime", "message"),
    [
        (0, "o.expiration_time > now: Proposal has already expired on creation."),
        (
            MAX_LIFETIME + 1,
            (
                "o.expiration_time <= now + CHAIN_MAX_PROPOSAL_LIFETIME_SEC: "
                "Proposal expiration time is too far in the future."
            ),
        ),
    ],
)
def test_a_proposal_has_a_life_before_it(funded: Ledger, lifetime: int, message: str) -> None:
    refuses(funded, proposal(pays(), expiration_time=NOW + lifetime), message)


@pytest.mark.parametrize("lifetime", [1, MAX_LIFETIME])
def test_a_proposal_lives_four_weeks_at_most(funded: Ledger, lifetime: int) -> None:
    carry_out(funded, proposal(pays(), expiration_time=NOW + lifetime))


def test_a_review_begins_within_the_life_of_the_proposal(funded: Ledger) -> None:
    refuses(
        funded,
        proposal(pays(), review_period_time=NOW),
        "!o.review_period_time || *o.review_period_time > now: Proposal review period has expired on creation.",
    )
    refuses(
        funded,
        proposal(pays(), review_period_time=NOW + DAY),
        "!o.review_period_time || *o.review_period_time < o.expiration_time: "
        "Proposal review period must be less than its overall lifetime.",
    )
    carry_out(funded, proposal(pays(), review_period_time=NOW + DAY - 1))


def test_an_authority_that_is_spelled_out_cannot_be_asked_for(funded: Ledger) -> None:
    refuses(funded, proposal(approval(key_approvals_to_add=(KEY,))), "other.size() == 0: ")


@pytest.mark.parametrize("extra", [pays(), new_master(BOB)])
def test_regular_authority_is_asked_for_alone(funded: Ledger, extra: Operation) -> None:
    refuses(
        funded,
        proposal(AccountMetadata(BOB, "{}"), extra),
        "required_regular.empty() != required_total.empty(): "
        "Can't combine operations required regular authority and active or master authority",
    )


def test_those_who_are_asked_for_exist(funded: Ledger) -> None:
    refuses(
        funded,
        proposal(pays(), pays(NOBODY)),
        "nullptr != _db.find_account(account): Account 'nobody' for proposed operation doesn't exist",
    )


def test_only_new_transactions_are_refused_for_proposals_deep_inside_each_other(funded: Ledger) -> None:
    deep = proposal(proposal(proposal(pays(), title="3"), title="2"), title="1")
    funded.is_producing = True
    refuses(
        funded,
        deep,
        "depth_ <= CHAIN_MAX_PROPOSAL_DEPTH: You can't create more than 2 nested proposals",
    )
    carry_out(funded, proposal(proposal(pays(), title="2"), title="two deep"))

    funded.is_producing = False
    carry_out(funded, deep)


def test_the_trial_is_not_reported(funded: Ledger) -> None:
    """`carry_out` gives all that was reported but the operation itself."""
    assert carry_out(funded, proposal(proposal(pays(), title="inner"))) == []
    assert find(funded, "inner") is None


def test_a_proposal_is_carried_out_when_all_have_agreed(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(BOB, 10), pays(CAROL, 20)))

    assert carry_out(funded, active(BOB)) == []
    assert stored(funded).available_active_approvals == (BOB,)
    assert carry_out(funded, active(CAROL)) == [pays(BOB, 10), pays(CAROL, 20)]

    assert funded.account(ALICE).balance == 30
    assert find(funded) is None
    assert required(funded) == []


def test_what_is_carried_out_counts_as_virtual(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(BOB, 10), pays(BOB, 20)))

    carry_out(funded, active(BOB))

    assert [each.virtual_operation for each in funded.operations] == [0, 1, 2]


def test_a_failure_is_undone_and_the_proposal_waits(funded: Ledger) -> None:
    carry_out(funded, proposal(AccountMetadata(BOB, "new")))
    carry_out(funded, proposal(pays(BOB, 60), pays(BOB, 40), title="both"))
    change(funded, funded.account(BOB), balance=99)
    agreed = msgspec.structs.replace(active(BOB), title="both")

    assert carry_out(funded, agreed) == []

    assert (funded.account(BOB).balance, funded.account(ALICE).balance) == (99, 0)
    assert stored(funded, "both").available_active_approvals == (BOB,)
    assert metadata_of(funded, BOB) == ""


def test_regular_approvals_suffice_where_regular_authority_is_asked_for(funded: Ledger) -> None:
    carry_out(funded, proposal(AccountMetadata(BOB, "new")))

    carry_out(funded, approval(regular_approvals_to_add=(BOB,)))

    assert metadata_of(funded, BOB) == "new"


def test_keys_suffice(funded: Ledger) -> None:
    carry_out(funded, proposal(pays()))

    carry_out(funded, approval(key_approvals_to_add=(key_of(BOB),)))

    assert funded.account(ALICE).balance == 10


def test_approvals_are_given_and_taken_back(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(BOB), pays(CAROL)))
    carry_out(funded, active(BOB))

    refuses(
        funded,
        approval(active_approvals_to_add=(BOB,)),
        "dst.find(a) == dst.end(): Can't add already exist approval 'bob'",
    )
    carry_out(funded, approval(active_approvals_to_remove=(BOB,)))
    refuses(
        funded,
        approval(active_approvals_to_remove=(BOB,)),
        "dst.find(a) != dst.end(): Can't remove the non existing approval 'bob'",
    )
    assert stored(funded).available_active_approvals == ()


def test_keys_are_told_by_their_texts(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(BOB), pays(CAROL)))

    refuses(
        funded,
        approval(key_approvals_to_remove=(KEY,), active_approvals_to_add=(BOB,)),
        f"dst.find(a) != dst.end(): Can't remove the non existing approval '{public_key_text(KEY)}'",
    )
    carry_out(funded, approval(key_approvals_to_add=(key_of(BOB),)))
    refuses(
        funded,
        approval(key_approvals_to_add=(key_of(BOB),)),
        f"dst.find(a) == dst.end(): Can't add already exist approval '{public_key_text(key_of(BOB))}'",
    )


def test_an_unknown_proposal_cannot_be_approved_or_deleted(funded: Ledger) -> None:
    refuses(funded, active(BOB), "unknown key: ")
    refuses(funded, ProposalDelete(ALICE, TITLE, ALICE, ()), "unknown key: ")


def test_with_a_review_all_approvals_are_stored_and_none_carries_out(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(), review_period_time=NOW + 100))

    carry_out(funded, active(BOB, CAROL))

    assert stored(funded).available_active_approvals == (BOB, CAROL)
    assert funded.account(ALICE).balance == 0


def test_in_the_review_approvals_are_only_taken_back_and_the_last_takes_the_proposal(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(), review_period_time=NOW + 100))
    pass_time(funded, 99)
    carry_out(funded, active(BOB, CAROL))
    pass_time(funded, 1)

    refuses(funded, approval(key_approvals_to_add=(KEY,)), IN_REVIEW)
    carry_out(funded, approval(active_approvals_to_remove=(BOB,)))
    assert stored(funded).available_active_approvals == (CAROL,)
    carry_out(funded, approval(active_approvals_to_remove=(CAROL,)))

    assert find(funded) is None
    assert required(funded) == []


def test_before_the_review_a_proposal_without_approvals_stays(funded: Ledger) -> None:
    carry_out(funded, proposal(pays(), review_period_time=NOW + 100))
    carry_out(funded, active(BOB))

    carry_out(funded, approval(active_approvals_to_remove=(BOB,)))

    assert find(funded) is not None


@pytest.mark.parametrize("requester", [ALICE, BOB])
def test_the_author_and_those_who_are_asked_for_may_delete(funded: Ledger, requester: AccountName) -> None:
    carry_out(funded, proposal(pays()))

    assert carry_out(funded, ProposalDelete(ALICE, TITLE, requester, ())) == []

    assert find(funded) is None
    assert required(funded) == []


def test_others_may_not_delete(funded: Ledger) -> None:
    carry_out(funded, proposal(pays()))

    refuses(
        funded,
        ProposalDelete(ALICE, TITLE, CAROL, ()),
        "proposal.author == o.requester || proposal.required_active_approvals.count(o.requester) || "
        "proposal.required_master_approvals.count(o.requester) || "
        "proposal.required_regular_approvals.count(o.requester): "
        "Provided authority is not authoritative for this proposal.",
    )
