"""Awards: bytes, JSON, rules, authorities."""

from __future__ import annotations

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import regular
from ledgerd.protocol.operations.money.awards import Award, FixedAward
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

ALICE = AccountName("alice")
BOB = AccountName("bob")

AWARD = Award(ALICE, BOB, 1_000, 5_000_000_000, "", (Beneficiary(AccountName("viz"), 500),))
FIXED = FixedAward(
    AccountName("a97271030"),
    AccountName("a311599"),
    tokens(100),
    1_000,
    0,
    "",
    (Beneficiary(AccountName("a49925673"), 838),),
)

both = pytest.mark.parametrize("award", [AWARD, FIXED])


def test_an_award_with_a_sequence_above_32_bits() -> None:
    round_trips(
        AWARD,
        "2f05616c69636503626f62e80300f2052a0100000000010376697af401",
        [
            "award",
            {
                "initiator": "alice",
                "receiver": "bob",
                "energy": 1000,
                "custom_sequence": "5000000000",
                "memo": "",
                "beneficiaries": [{"account": "viz", "weight": 500}],
            },
        ],
    )


def test_a_recorded_award_without_beneficiaries() -> None:
    round_trips(
        Award(AccountName("viz"), AccountName("null"), 1, 1, "", ()),
        "2f0376697a046e756c6c010001000000000000000000",
        [
            "award",
            {
                "initiator": "viz",
                "receiver": "null",
                "energy": 1,
                "custom_sequence": 1,
                "memo": "",
                "beneficiaries": [],
            },
        ],
    )


def test_a_recorded_award_of_a_set_amount() -> None:
    round_trips(
        FIXED,
        "3c09613937323731303330076133313135393964000000000000000356495a00000000e8030000000000000000"
        "0001096134393932353637334603",
        [
            "fixed_award",
            {
                "initiator": "a97271030",
                "receiver": "a311599",
                "reward_amount": "0.100 VIZ",
                "max_energy": 1000,
                "custom_sequence": 0,
                "memo": "",
                "beneficiaries": [{"account": "a49925673", "weight": 838}],
            },
        ],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    assert codec_of(Award).from_json({}) == Award(NO_NAME, NO_NAME, 0, 0, "", ())
    assert codec_of(FixedAward).from_json({}) == FixedAward(NO_NAME, NO_NAME, tokens(0), 0, 0, "", ())


@both
def test_names_have_to_be_valid(award: Award | FixedAward) -> None:
    accepts(award)
    asks_for_names(award, "initiator", "receiver")


def test_energy_is_a_percentage() -> None:
    for energy in (0, 10_000):
        accepts(changed(AWARD, energy=energy))
        accepts(changed(FIXED, max_energy=energy))
    refuses(changed(AWARD, energy=10_001), "energy <= CHAIN_100_PERCENT: ")
    refuses(changed(FIXED, max_energy=10_001), "max_energy <= CHAIN_100_PERCENT: ")


def test_a_set_amount_is_some_tokens() -> None:
    accepts(changed(FIXED, reward_amount=tokens(1)))
    refuses(
        changed(FIXED, reward_amount=shares(1)),
        "is_asset_type(reward_amount, TOKEN_SYMBOL): Reward amount must be TOKEN_SYMBOL",
    )
    refuses(
        changed(FIXED, reward_amount=tokens(0)),
        "reward_amount.amount > 0: Reward amount cannot be negative or zero amount",
    )


@both
def test_a_sequence_fits_a_signed_number(award: Award | FixedAward) -> None:
    accepts(changed(award, custom_sequence=2**63 - 1))
    refuses(
        changed(award, custom_sequence=2**63),
        "custom_sequence <= uint64_t(std::numeric_limits<int64_t>::max()): ",
    )


@both
def test_a_memo_has_less_than_2048_bytes_of_utf8(award: Award | FixedAward) -> None:
    accepts(changed(award, memo="m" * 2_047))
    refuses(changed(award, memo="é" * 1_024), "memo.size() < CHAIN_MAX_MEMO_LENGTH: Memo is too large")
    refuses(changed(award, memo="\udcff"), "fc::is_utf8(memo): Memo is not UTF8")


@both
def test_beneficiaries_get_all_of_it_at_most_in_any_order_even_twice(award: Award | FixedAward) -> None:
    accepts(changed(award, beneficiaries=()))
    accepts(changed(award, beneficiaries=(Beneficiary(BOB, 9_000), Beneficiary(ALICE, 500), Beneficiary(BOB, 500))))
    refuses(
        changed(award, beneficiaries=(Beneficiary(BOB, 9_000), Beneficiary(ALICE, 1_001))),
        "sum <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to a content",
    )
    refuses(
        changed(award, beneficiaries=(Beneficiary(BOB, 10_001),)),
        "beneficiaries[i].weight <= CHAIN_100_PERCENT: Cannot allocate more than 100% of rewards to one account",
    )
    refuses(
        changed(award, beneficiaries=(Beneficiary(NO_NAME, 1),)),
        "is_valid_account_name(name): Account name  is invalid",
    )


@both
def test_there_are_127_beneficiaries_at_most(award: Award | FixedAward) -> None:
    accepts(changed(award, beneficiaries=(Beneficiary(BOB, 1),) * 127))
    refuses(
        changed(award, beneficiaries=(Beneficiary(BOB, 1),) * 128),
        "beneficiaries.size() < 128: Cannot specify more than 127 beneficiaries.",
    )


@both
def test_the_regular_authority_awards(award: Award | FixedAward) -> None:
    assert award.authorities() == regular(award.initiator)
