"""Blocks wait for confirmations, and a lone validator needs none."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.irreversibility import advance_by_confirmations, remember_for_confirmation
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT, BlockSummary
from ledgerd.state.objects.validators import VALIDATOR_CONFIRMATIONS, ValidatorConfirmation
from tests.chain.empty_blocks import block_after, block_id, on_its_way, schedule
from tests.chain.ledgers import ALICE, BOB, CAROL, HEAD, change, create_validator

PLACES = 21


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    """Alice and bob take turns."""
    for owner in (ALICE, BOB):
        create_validator(ledger, owner)
    schedule(ledger, ALICE, BOB)
    for _ in range(BLOCK_SUMMARY_COUNT):
        ledger.store.create(BLOCK_SUMMARIES, BlockSummary())
    return ledger


def wait_for(ledger: Ledger, number: int, confirmed: int = 0) -> ValidatorConfirmation:
    flags = (True,) * confirmed + (False,) * (PLACES - confirmed)
    return ledger.store.create(
        VALIDATOR_CONFIRMATIONS,
        ValidatorConfirmation(
            block_num=number,
            block_id=block_id(number),
            current_shuffled_validators=(NO_NAME,) * PLACES,
            current_shuffled_validators_validations=flags,
        ),
    )


def waiting(ledger: Ledger) -> list[int]:
    return [each.block_num for each in ledger.store.scan(VALIDATOR_CONFIRMATIONS)]


def advance(ledger: Ledger, irreversible: int) -> int:
    change(ledger, ledger.globals, last_irreversible_block_num=irreversible)
    advance_by_confirmations(ledger, on_its_way(ledger, block_after(ALICE)))
    return ledger.globals.last_irreversible_block_num


def test_a_block_waits_for_the_scheduled_validators_but_its_producer(ledger: Ledger) -> None:
    create_validator(ledger, CAROL)
    schedule(ledger, ALICE, BOB, ALICE, CAROL)
    block = block_after(ALICE)

    remember_for_confirmation(ledger, on_its_way(ledger, block))

    kept = ledger.store.get(VALIDATOR_CONFIRMATIONS, 0)
    assert (kept.block_num, kept.block_id) == (HEAD + 1, block.id)
    assert kept.current_shuffled_validators == (BOB, CAROL, *(NO_NAME,) * 19)
    assert kept.current_shuffled_validators_validations == (False,) * PLACES


def test_irreversible_blocks_wait_no_longer(ledger: Ledger) -> None:
    for number in (990, 991, 992):
        wait_for(ledger, number)
    change(ledger, ledger.globals, last_irreversible_block_num=991)

    remember_for_confirmation(ledger, on_its_way(ledger, block_after(ALICE)))

    assert waiting(ledger) == [992, HEAD + 1]


@pytest.mark.parametrize("count", [19, 20, 23])
def test_no_more_than_twenty_blocks_wait_the_oldest_give_way(ledger: Ledger, count: int) -> None:
    for number in range(HEAD + 1 - count, HEAD + 1):
        wait_for(ledger, number)

    remember_for_confirmation(ledger, on_its_way(ledger, block_after(ALICE)))

    assert waiting(ledger) == list(range(HEAD - 18, HEAD + 2))


def test_several_confirmed_blocks_become_irreversible_at_once(ledger: Ledger) -> None:
    for number, confirmed in ((990, 1), (991, 1), (992, 0), (993, 1)):
        wait_for(ledger, number, confirmed)

    assert advance(ledger, 989) == 991
    assert waiting(ledger) == [992, 993]


def test_a_confirmed_block_above_one_that_is_not_has_to_wait(ledger: Ledger) -> None:
    wait_for(ledger, 990, confirmed=21)

    assert advance(ledger, 988) == 988


@pytest.mark.parametrize(("confirmed", "irreversible"), [(14, 989), (15, 990)])
def test_of_21_validators_15_must_confirm(ledger: Ledger, confirmed: int, irreversible: int) -> None:
    schedule(ledger, *(f"v{place}" for place in range(PLACES)))
    wait_for(ledger, 990, confirmed)

    assert advance(ledger, 989) == irreversible


def test_with_a_lone_validator_nobody_has_to_confirm(ledger: Ledger) -> None:
    schedule(ledger, ALICE)
    change(ledger, ledger.store.get(BLOCK_SUMMARIES, 990), block_id=block_id(990))
    wait_for(ledger, 990)

    assert advance(ledger, 989) == 990
    assert ledger.globals.last_irreversible_block_id == block_id(990)


def test_the_id_of_the_irreversible_block_is_left_out_where_it_is_not_known(ledger: Ledger) -> None:
    schedule(ledger, ALICE)
    wait_for(ledger, 990)

    advance(ledger, 989)

    assert ledger.globals.last_irreversible_block_id == NO_BLOCK


def test_in_an_emergency_confirmations_do_not_count(ledger: Ledger) -> None:
    change(ledger, ledger.globals, emergency_consensus_active=True)
    wait_for(ledger, 990, confirmed=21)

    assert advance(ledger, 989) == 989


def test_what_waits_is_kept_as_it_was(ledger: Ledger) -> None:
    kept = wait_for(ledger, HEAD)
    before = msgspec.structs.asdict(kept)

    remember_for_confirmation(ledger, on_its_way(ledger, block_after(ALICE)))

    assert msgspec.structs.asdict(kept) == before


def test_a_block_that_was_confirmed_among_others_leaves_those_before_and_after_it(ledger: Ledger) -> None:
    for number, confirmed in ((988, 0), (990, 2), (992, 0)):
        wait_for(ledger, number, confirmed)

    assert advance(ledger, 989) == 990
    assert waiting(ledger) == [988, 992]
    remember_for_confirmation(ledger, on_its_way(ledger, block_after(ALICE)))
    assert waiting(ledger)[0] == 992


def test_the_scheduled_validators_are_those_of_today(ledger: Ledger) -> None:
    store = ledger.store

    def owners() -> list[str]:
        found = ledger.scheduled_validators()
        assert found == [ledger.validator(name) for name in ledger.schedule.scheduled]
        return [each.owner for each in found]

    assert owners() == [ALICE, BOB]
    change(ledger, ledger.validator(BOB), total_missed=5)
    assert owners() == [ALICE, BOB]
    with store.begin():
        create_validator(ledger, CAROL)
        schedule(ledger, CAROL, ALICE)
        assert owners() == [CAROL, ALICE]
    assert owners() == [ALICE, BOB]
    create_validator(ledger, CAROL)
    schedule(ledger, CAROL, ALICE)
    assert owners() == [CAROL, ALICE]
    assert ledger.scheduled_validators()[0] is ledger.validator(CAROL)
