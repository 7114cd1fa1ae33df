"""Who may make a block, and what its header tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.steps.header import (
    WrongScheduledValidator,
    check_header,
    check_running_version,
    fix_genesis_time,
    name_producer,
    process_header_extensions,
)
from ledgerd.codec import Void
from ledgerd.protocol.blocks.block import Block, HardforkVote, RunningVersion
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.versions import HardforkVersionVote, version_number
from tests.chain.empty_blocks import block_after, on_its_way, schedule
from tests.chain.ledgers import ALICE, HEAD, NOW, change, create_validator, fresh_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Alice and bob take turns; the next slot is alice's."""
    ledger = fresh_ledger(tmp_path)
    create_validator(ledger, "alice")
    create_validator(ledger, "bob")
    schedule(ledger, "bob", "alice")
    return ledger


def check(ledger: Ledger, block: Block, skip: SkipFlags = Skip.NOTHING) -> BlockContext:
    context = BlockContext(block, skip)
    check_header(ledger, context)
    return context


def refusal(ledger: Ledger, block: Block, skip: SkipFlags = Skip.NOTHING) -> str:
    with pytest.raises(RuleViolation) as caught:
        check(ledger, block, skip)
    return caught.value.message


def test_a_block_of_the_scheduled_validator_is_accepted_and_names_it(ledger: Ledger) -> None:
    context = check(ledger, block_after("alice"))
    name_producer(ledger, context)

    assert context.producer.owner == "alice"
    assert ledger.globals.current_validator == "alice"


def test_a_block_on_another_parent_is_refused(ledger: Ledger) -> None:
    assert refusal(ledger, block_after("alice", head=HEAD - 1)) == "head_block_id() == next_block.previous: "


def test_a_block_that_is_no_later_than_its_parent_is_refused(ledger: Ledger) -> None:
    block = block_after("alice", NOW)

    assert refusal(ledger, block) == "head_block_time() < next_block.timestamp: "


def test_a_block_of_somebody_who_is_no_validator_is_refused(ledger: Ledger) -> None:
    assert refusal(ledger, block_after("carol")) == "unknown key: "


def test_a_block_signed_by_another_key_is_refused_unless_signatures_are_skipped(ledger: Ledger) -> None:
    block = block_after("alice", signer="bob")

    assert refusal(ledger, block) == "next_block.validate_signee(validator.signing_key): "
    check(ledger, block, Skip.VALIDATOR_SIGNATURE)


def test_a_validator_without_a_key_makes_no_blocks(ledger: Ledger) -> None:
    change(ledger, ledger.validator(ALICE), signing_key=NULL_KEY)

    assert "validate_signee" in refusal(ledger, block_after("alice"))


@pytest.mark.parametrize("later", [1, 2])
def test_a_second_block_in_the_slot_of_the_head_is_refused(ledger: Ledger, later: int) -> None:
    assert refusal(ledger, block_after("alice", NOW + later)) == "slot_num > 0: "


def test_a_block_out_of_turn_is_refused_in_a_way_of_its_own(ledger: Ledger) -> None:
    block = block_after("bob")

    with pytest.raises(WrongScheduledValidator) as caught:
        check(ledger, block)
    assert caught.value.code == 4020100
    check(ledger, block, Skip.VALIDATOR_SCHEDULE)


@pytest.mark.parametrize(("later", "producer"), [(3, "alice"), (5, "alice"), (6, "bob"), (9, "alice")])
def test_slots_go_round_and_last_three_seconds(ledger: Ledger, later: int, producer: str) -> None:
    check(ledger, block_after(producer, NOW + later))


def test_in_an_emergency_whoever_is_scheduled_may_use_any_slot(ledger: Ledger) -> None:
    create_validator(ledger, "carol")
    change(ledger, ledger.globals, emergency_consensus_active=True)

    check(ledger, block_after("bob"))
    assert "in_schedule" in refusal(ledger, block_after("carol"))


def test_the_first_block_says_when_the_chain_began(ledger: Ledger) -> None:
    before = ledger.hardforks.processed_hardforks

    fix_genesis_time(ledger, on_its_way(ledger, block_after("alice", NOW, head=0)))

    assert ledger.globals.genesis_time == NOW - 3
    assert ledger.hardforks.processed_hardforks == (NOW - 3, *before[1:])


def test_no_later_block_says_when_the_chain_began(ledger: Ledger) -> None:
    fix_genesis_time(ledger, on_its_way(ledger, block_after("alice")))

    assert ledger.globals.genesis_time == 0


def test_a_header_tells_the_running_version_and_a_vote_without_its_release(ledger: Ledger) -> None:
    vote = HardforkVersionVote(version_number(3, 3, 7), 1_900_000_000)
    extensions = (Void(), RunningVersion(version_number(3, 2, 1)), HardforkVote(vote))
    context = on_its_way(ledger, block_after("alice", extensions=extensions))

    process_header_extensions(ledger, context)

    alice = context.producer
    assert alice.running_version == version_number(3, 2, 1)
    assert (alice.hardfork_version_vote, alice.hardfork_time_vote) == (version_number(3, 3), 1_900_000_000)


def test_a_program_older_than_the_rules_in_force_makes_no_blocks(ledger: Ledger) -> None:
    context = on_its_way(ledger, block_after("alice"))
    change(ledger, ledger.hardforks, current_hardfork_version=version_number(3, 2))
    change(ledger, context.producer, running_version=version_number(3, 1, 65535))
    with pytest.raises(RuleViolation, match="not running current hardfork"):
        check_running_version(ledger, context)

    change(ledger, context.producer, running_version=version_number(3, 2))
    check_running_version(ledger, context)
