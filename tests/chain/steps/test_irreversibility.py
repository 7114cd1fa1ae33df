"""Blocks that enough validators have built on are irreversible."""

from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.irreversibility import update_last_irreversible_block
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT, BlockSummary
from tests.chain.empty_blocks import block_after, block_id, on_its_way, schedule
from tests.chain.ledgers import ALICE, HEAD, change, create_validator

KNOWN = BlockId(block_id(995)[:4] + bytes.fromhex("78563412") + bytes(12))


def supporting(ledger: Ledger, *numbers: int) -> Block:
    """Validators that support these blocks make up the round; block 1,001 is the head and is being applied."""
    names = [f"v{place}" for place in range(len(numbers))]
    for owner, number in zip(names, numbers, strict=True):
        create_validator(ledger, owner, last_supported_block_num=number)
    schedule(ledger, *names)
    block = block_after("v0")
    change(ledger, ledger.globals, head_block_number=HEAD + 1, head_block_id=block.id)
    for _ in range(BLOCK_SUMMARY_COUNT):
        ledger.store.create(BLOCK_SUMMARIES, BlockSummary())
    change(ledger, ledger.store.get(BLOCK_SUMMARIES, 995), block_id=KNOWN)
    return block


def test_of_21_validators_16_must_support_a_block(ledger: Ledger) -> None:
    block = supporting(ledger, *(1, 2, 3, 4, 5), *(995,) * 16)

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    head = ledger.globals
    assert head.last_irreversible_block_num == 995
    assert head.last_irreversible_block_id == KNOWN
    assert (head.last_irreversible_block_ref_num, head.last_irreversible_block_ref_prefix) == (995, 0x12345678)


def test_with_one_validator_less_it_is_the_block_below(ledger: Ledger) -> None:
    block = supporting(ledger, *(1, 2, 3, 4, 5, 994), *(995,) * 15)

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    head = ledger.globals
    assert head.last_irreversible_block_num == 994
    assert (head.last_irreversible_block_id, head.last_irreversible_block_ref_prefix) == (NO_BLOCK, 0)


def test_the_irreversible_block_never_goes_back(ledger: Ledger) -> None:
    block = supporting(ledger, 995)
    change(ledger, ledger.globals, last_irreversible_block_num=996)

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    assert ledger.globals.last_irreversible_block_num == 996


def test_a_lone_validator_makes_its_own_block_irreversible_at_once(ledger: Ledger) -> None:
    block = supporting(ledger, HEAD + 1)

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    assert ledger.globals.last_irreversible_block_id == block.id


@pytest.mark.parametrize(("hardfork", "number"), [(12, HEAD), (11, HEAD + 1)])
def test_in_an_emergency_the_head_itself_stays_reversible(ledger: Ledger, hardfork: int, number: int) -> None:
    block = supporting(ledger, HEAD + 1)
    change(ledger, ledger.globals, emergency_consensus_active=True)
    change(ledger, ledger.hardforks, processed_hardforks=(0,) * (hardfork + 1))

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    assert ledger.globals.last_irreversible_block_num == number


def test_the_id_of_a_block_that_is_no_longer_remembered_stays_as_it_was(ledger: Ledger) -> None:
    block = supporting(ledger, 994)
    change(ledger, ledger.globals, last_irreversible_block_num=994, last_irreversible_block_id=block_id(994))

    update_last_irreversible_block(ledger, on_its_way(ledger, block))

    assert ledger.globals.last_irreversible_block_id == block_id(994)


def test_the_chain_stops_when_a_scheduled_validator_does_not_exist(ledger: Ledger) -> None:
    create_validator(ledger, ALICE)
    schedule(ledger, ALICE, AccountName("gone"))

    with pytest.raises(RuleViolation, match="unknown key"):
        update_last_irreversible_block(ledger, on_its_way(ledger, block_after(ALICE)))
