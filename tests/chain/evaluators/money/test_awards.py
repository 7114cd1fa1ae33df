from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.money.awards import Award, FixedAward
from ledgerd.protocol.operations.virtual import BenefactorAward, ReceiveAward
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, change, create_account, refuses, set_median

LedgerAt = Callable[[int], Ledger]

DAVE = AccountName("dave")
NOBODY = AccountName("nobody")

REGENERATION = 432_000
EFFECTIVE = 1_234_567_891_234
FUND, REWARD_SHARES = 5_000_123_456, 987_654_321_098_765
"""The state of the vectors of spec 02, section 21.4."""


def award(energy: int, *beneficiaries: Beneficiary) -> Award:
    return Award(ALICE, BOB, energy, 7, "thanks", beneficiaries)


def fixed(amount: int, max_energy: int, *beneficiaries: Beneficiary) -> FixedAward:
    return FixedAward(ALICE, BOB, tokens(amount), max_energy, 7, "thanks", beneficiaries)


def with_fund(ledger: Ledger, energy: int = 10_000) -> Ledger:
    """A thousand shares a token, so that what is paid in tokens can be read from the shares."""
    create_account(ledger, ALICE, shares=EFFECTIVE, energy=energy, last_vote_time=NOW)
    for name in (BOB, CAROL, DAVE):
        create_account(ledger, name)
    change(
        ledger,
        ledger.globals,
        total_reward_fund=FUND,
        total_reward_shares=REWARD_SHARES,
        total_vesting_fund=10**9,
        total_vesting_shares=10**12,
    )
    return ledger


@pytest.fixture
def funded(ledger: Ledger) -> Ledger:
    return with_fund(ledger)


@pytest.mark.parametrize("hardfork", [4, 5, 13])
def test_an_award_matches_the_vector_of_the_specification(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = with_fund(ledger_at(hardfork))
    operation = award(150, Beneficiary(DAVE, 2_500), Beneficiary(CAROL, 1_000))

    emitted = carry_out(ledger, operation)

    assert emitted == [
        BenefactorAward(ALICE, DAVE, BOB, 7, "thanks", shares(23_437_000)),
        BenefactorAward(ALICE, CAROL, BOB, 7, "thanks", shares(9_375_000)),
        ReceiveAward(ALICE, BOB, 7, "thanks", shares(60_938_000)),
    ]
    globals_, bob = ledger.globals, ledger.account(BOB)
    assert globals_.total_reward_fund == 5_000_029_706
    assert globals_.total_reward_shares == 987_672_839_617_133
    assert (bob.vesting_shares, bob.receiver_awards, bob.benefactor_awards) == (60_938_000, 60_938, 0)
    assert ledger.account(DAVE).benefactor_awards == 23_437
    expiring = ledger.store.get(AWARD_SHARES_EXPIRE, 0)
    assert (expiring.rshares, expiring.expires) == (18_518_518_368, NOW + REGENERATION)


def test_an_award_costs_energy(funded: Ledger) -> None:
    carry_out(funded, award(150))

    alice = funded.account(ALICE)
    assert (alice.energy, alice.last_vote_time, alice.vote_count) == (9_850, NOW, 1)


def test_energy_comes_back_with_time(ledger: Ledger) -> None:
    with_fund(ledger, energy=5_000)
    alice = ledger.account(ALICE)
    change(ledger, alice, last_vote_time=NOW - 86_400)

    refuses(
        ledger,
        award(7_001),
        "used_energy <= current_energy: Account does not have enough energy to award. "
        "Current energy: 7000, used energy: 7001",
    )
    carry_out(ledger, award(7_000))
    assert alice.energy == 0


@pytest.mark.parametrize("energy", [0, -3])
def test_without_energy_nothing_is_awarded(ledger: Ledger, energy: int) -> None:
    with_fund(ledger, energy=energy)
    message = f"current_energy > 0: Account currently does not have voting energy. Current energy: {energy}"

    refuses(ledger, award(0), message)
    refuses(ledger, fixed(500, 0), message)


def test_awards_begin_with_hardfork_4_and_fixed_ones_with_11(ledger_at: LedgerAt) -> None:
    refuses(ledger_at(3), award(1), "_db.has_hardfork(CHAIN_HARDFORK_4): award_evaluator not enabled until HF 4")
    refuses(
        ledger_at(10),
        fixed(1, 1),
        "_db.has_hardfork(CHAIN_HARDFORK_11): fixed_award_evaluator not enabled until HF 11",
    )


def test_initiator_and_receiver_exist(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    for operation in (award(1), fixed(1, 1)):
        refuses(ledger, operation, "unknown key: ")
        refuses(ledger, msgspec.structs.replace(operation, initiator=BOB, receiver=ALICE), "unknown key: ")


def test_an_award_of_too_little_costs_energy_and_pays_nothing(funded: Ledger) -> None:
    set_median(funded, vote_accounting_min_rshares=123_456_790)

    assert carry_out(funded, award(1, Beneficiary(NOBODY, 1))) == []

    alice = funded.account(ALICE)
    assert (alice.energy, alice.vote_count) == (9_999, 1)
    assert funded.globals.total_reward_fund == FUND
    assert funded.store.first(AWARD_SHARES_EXPIRE) is None


def test_an_award_of_just_enough_counts(funded: Ledger) -> None:
    set_median(funded, vote_accounting_min_rshares=123_456_789)

    assert len(carry_out(funded, award(1))) == 1


def test_an_award_of_nothing_is_refused_where_any_award_counts(funded: Ledger) -> None:
    set_median(funded, vote_accounting_min_rshares=0)

    refuses(funded, award(0), "rshares > 0: ")


def test_who_has_lent_more_than_it_has_cannot_award(funded: Ledger) -> None:
    change(funded, funded.account(ALICE), delegated_vesting_shares=EFFECTIVE + 1)

    refuses(funded, award(1), "hi == 0: ")


def test_beneficiaries_exist(funded: Ledger) -> None:
    for operation in (award(150, Beneficiary(NOBODY, 1)), fixed(500, 300, Beneficiary(NOBODY, 1))):
        refuses(funded, operation, 'acc != nullptr: Beneficiary "nobody" must exist.')


def test_beneficiaries_may_repeat_and_have_no_order(funded: Ledger) -> None:
    emitted = carry_out(funded, award(150, Beneficiary(DAVE, 1), Beneficiary(CAROL, 0), Beneficiary(DAVE, 1)))

    assert [type(each) for each in emitted] == [BenefactorAward] * 3 + [ReceiveAward]
    assert funded.account(DAVE).benefactor_awards == 18


def test_beneficiaries_of_everything_leave_the_receiver_nothing(funded: Ledger) -> None:
    emitted = carry_out(funded, award(150, Beneficiary(DAVE, 10_000)))

    assert [type(each) for each in emitted] == [BenefactorAward]
    assert funded.account(BOB).receiver_awards == 0


def test_only_new_transactions_are_refused_for_many_beneficiaries(funded: Ledger) -> None:
    many = (Beneficiary(DAVE, 1),) * 65
    message = "o.beneficiaries.size() <= CHAIN_MAX_COMMENT_BENEFICIARIES: Cannot specify more than 64 beneficiaries."
    funded.is_producing = True
    refuses(funded, award(150, *many), message)
    refuses(funded, fixed(500, 300, *many), message)
    carry_out(funded, award(150, *many[:64]))

    funded.is_producing = False
    carry_out(funded, award(150, *many))


def test_a_fixed_award_matches_its_vector(funded: Ledger) -> None:
    assert carry_out(funded, fixed(500, 300)) == [ReceiveAward(ALICE, BOB, 7, "thanks", shares(500_000))]

    alice, globals_ = funded.account(ALICE), funded.globals
    assert (alice.energy, alice.last_vote_time, alice.vote_count) == (9_999, NOW, 1)
    assert globals_.committee_fund == 125
    assert globals_.total_reward_fund == FUND - 625
    assert globals_.total_reward_shares == REWARD_SHARES + 123_456_789
    assert funded.account(BOB).receiver_awards == 500


def test_the_energy_of_a_fixed_award_is_limited_by_what_is_there(ledger: Ledger) -> None:
    with_fund(ledger, energy=300)

    refuses(
        ledger,
        fixed(500, 301),
        "max_energy <= current_energy: Account does not have enough energy to award. "
        "Current energy: 300, max energy: 301",
    )
    carry_out(ledger, fixed(500, 300))


def test_a_fixed_award_without_energy_is_refused(funded: Ledger) -> None:
    refuses(funded, fixed(500, 0), "rshares > 0: ")


def test_a_fixed_award_is_no_larger_than_its_energy_could_be_worth(funded: Ledger) -> None:
    refuses(
        funded,
        fixed(187_498, 300),
        "max_reward >= o.reward_amount.amount.value: Max available reward: 187497, requested reward amount: 187498",
    )
    carry_out(funded, fixed(187_497, 300))
    assert funded.account(ALICE).energy == 9_700


def test_a_fixed_award_may_take_a_point_more_than_was_there(ledger: Ledger) -> None:
    """Where all of the energy is needed, rounded up it is more (spec 02, section 10.2, quirk)."""
    with_fund(ledger, energy=1)
    change(ledger, ledger.account(ALICE), vesting_shares=10_000)
    change(ledger, ledger.globals, total_reward_fund=10_000, total_reward_shares=9_999)
    set_median(ledger, vote_accounting_min_rshares=1)

    carry_out(ledger, fixed(1, 1))

    assert ledger.account(ALICE).energy == -1


def test_no_fixed_award_takes_the_whole_fund(funded: Ledger) -> None:
    change(funded, funded.globals, total_reward_fund=100, total_reward_shares=0)

    assert refuses(funded, fixed(100, 300), "").code == 21


def test_a_fixed_award_that_does_not_count_is_refused(funded: Ledger) -> None:
    set_median(funded, vote_accounting_min_rshares=123_456_790)

    refuses(
        funded,
        fixed(500, 300),
        "tokens.amount >= o.reward_amount.amount: Calculated reward is lesser than fixed reward amount. "
        "Calculated reward: 0.000000 SHARES, fixed reward amount: 0.500 VIZ",
    )


def test_beneficiaries_of_a_fixed_award_share_the_donation_too(funded: Ledger) -> None:
    emitted = carry_out(funded, fixed(500, 300, Beneficiary(DAVE, 8_000)))

    assert emitted == [BenefactorAward(ALICE, DAVE, BOB, 7, "thanks", shares(500_000))]
    assert funded.globals.committee_fund == 125


def test_a_fixed_award_may_pay_more_than_it_claims(funded: Ledger) -> None:
    carry_out(funded, fixed(500, 300, Beneficiary(DAVE, 10_000)))

    assert funded.account(DAVE).benefactor_awards == 625
    assert funded.globals.committee_fund == 125
    assert funded.globals.total_reward_fund == FUND - 625
