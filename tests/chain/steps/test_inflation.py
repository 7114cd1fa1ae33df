from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.inflation import first_inflation, pay_inflation, recalculate_inflation
from ledgerd.protocol.constants import BLOCKS_PER_YEAR, COMMITTEE_ACCOUNT
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.assets import shares
from tests.chain.ledgers import ALICE, HEAD, change, create_account, run, set_median

LedgerAt = Callable[[int], Ledger]


def pay(ledger: Ledger) -> list[Operation]:
    """In a block of the committee's; a thousand shares are worth a thousandth of a token."""

    def step(ledger: Ledger, context: BlockContext) -> None:
        context.producer = ledger.validator(COMMITTEE_ACCOUNT)
        pay_inflation(ledger, context)

    return run(ledger, step)


def reward(amount: int) -> ValidatorReward:
    return ValidatorReward(COMMITTEE_ACCOUNT, shares(amount))


def with_shares(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, shares=1_000_000_000)
    return ledger


def funds(ledger: Ledger) -> tuple[int, int, int]:
    globals_ = ledger.globals
    return globals_.committee_fund, globals_.total_reward_fund, globals_.current_supply - 1_000_000


@pytest.mark.parametrize(
    ("head", "issued", "content", "vesting", "committee", "validator"),
    [
        (1, 475, 166, 47, 166, 96),
        (10_511_999, 475, 166, 47, 166, 96),
        (10_512_000, 523, 183, 52, 183, 105),
        (21_024_000, 575, 201, 57, 201, 116),
        (31_536_000, 633, 221, 63, 221, 128),
    ],
)
def test_inflation_of_the_first_era_matches_the_vectors(
    ledger_at: LedgerAt, head: int, issued: int, content: int, vesting: int, committee: int, validator: int
) -> None:
    ledger = with_shares(ledger_at(3))
    change(ledger, ledger.globals, head_block_number=head)

    emitted = pay(ledger)

    assert funds(ledger) == (committee, content, issued)
    dearer = validator * 1_000_000_000 // (1_000_000 + vesting)
    assert emitted == [reward(dearer)]
    assert ledger.globals.total_vesting_fund == 1_000_000 + vesting + validator
    assert ledger.account(COMMITTEE_ACCOUNT).vesting_shares == dearer


@pytest.mark.parametrize(
    ("hardfork", "head", "percents", "validator", "committee", "rewards"),
    [
        (4, 1, (2_000, 5_000), 95, 190, 190),
        (10, 10_512_000, (2_000, 5_000), 104, 209, 210),
        (11, 10_512_000, (2_000, 5_000), 200, 400, 400),
        (13, 1, (2_000, 5_000), 200, 400, 400),
        (11, 1, (0, 0), 0, 0, 1_000),
    ],
)
def test_voted_inflation_matches_the_vectors(
    ledger_at: LedgerAt,
    hardfork: int,
    head: int,
    percents: tuple[int, int],
    validator: int,
    committee: int,
    rewards: int,
) -> None:
    ledger = with_shares(ledger_at(hardfork))
    change(
        ledger,
        ledger.globals,
        head_block_number=head,
        inflation_validator_percent=percents[0],
        inflation_ratio=percents[1],
    )

    assert pay(ledger) == [reward(validator * 1_000)]

    assert funds(ledger) == (committee, rewards, validator + committee + rewards)
    assert ledger.globals.total_vesting_fund == 1_000_000 + validator


@pytest.mark.parametrize(
    ("rate", "own", "shared"), [(1, 200, 0), (50, 199, 1), (2_500, 150, 50), (9_999, 1, 199), (10_000, None, 200)]
)
def test_since_hardfork_13_a_validator_puts_a_part_aside(
    ledger: Ledger, rate: int, own: int | None, shared: int
) -> None:
    with_shares(ledger)
    validator = ledger.validator(COMMITTEE_ACCOUNT)
    change(ledger, validator, sharing_rate=rate, pending_stakeholder_reward=7)
    change(ledger, ledger.globals, inflation_validator_percent=2_000, inflation_ratio=5_000)

    assert pay(ledger) == ([] if own is None else [reward(own * 1_000)])

    assert validator.pending_stakeholder_reward == 7 + shared
    assert funds(ledger) == (400, 400, 1_000)


def test_before_hardfork_13_nothing_is_put_aside(ledger_at: LedgerAt) -> None:
    ledger = with_shares(ledger_at(12))
    validator = ledger.validator(COMMITTEE_ACCOUNT)
    change(ledger, validator, sharing_rate=10_000)
    change(ledger, ledger.globals, inflation_validator_percent=2_000)

    assert pay(ledger) == [reward(200_000)]
    assert validator.pending_stakeholder_reward == 0


def test_who_shares_a_reward_of_nothing_is_not_told_of_it(ledger: Ledger) -> None:
    with_shares(ledger)
    change(ledger, ledger.validator(COMMITTEE_ACCOUNT), sharing_rate=1)

    assert pay(ledger) == []


def test_the_producer_has_an_account(ledger: Ledger) -> None:
    with_shares(ledger)
    ledger.store.remove(ledger.account(COMMITTEE_ACCOUNT))

    with pytest.raises(Exception, match="unknown key"):
        pay(ledger)


def test_inflation_grows_by_a_tenth_each_year() -> None:
    assert [first_inflation(year) for year in range(4)] == [475, 523, 575, 633]
    assert 5_000_000_000 // BLOCKS_PER_YEAR == 475


@pytest.mark.parametrize(("last", "counts"), [(HEAD - 11, True), (HEAD - 10, False)])
def test_the_medians_count_after_each_period(ledger: Ledger, last: int, counts: bool) -> None:
    change(ledger, ledger.globals, inflation_calc_block_num=last)
    set_median(
        ledger,
        inflation_recalc_period=10,
        inflation_validator_percent=3_000,
        inflation_ratio_committee_vs_reward_fund=4_000,
    )

    assert run(ledger, recalculate_inflation) == []

    globals_ = ledger.globals
    expected = (HEAD, 3_000, 4_000) if counts else (last, 0, 0)
    assert (globals_.inflation_calc_block_num, globals_.inflation_validator_percent, globals_.inflation_ratio) == (
        expected
    )


def test_the_end_of_a_period_may_wrap_around(ledger: Ledger) -> None:
    change(ledger, ledger.globals, inflation_calc_block_num=2**32 - 1)
    set_median(ledger, inflation_recalc_period=1)

    run(ledger, recalculate_inflation)

    assert ledger.globals.inflation_calc_block_num == HEAD
