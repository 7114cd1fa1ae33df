"""The header of a block: its producer, whose turn it was, and what it tells of them (spec 03, 15.2, 15.6, 15.10)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.rules.validators.emergency import is_emergency
from ledgerd.chain.rules.validators.slots import scheduled_validator, slot_at
from ledgerd.protocol.blocks.block import Block, HardforkVote, RunningVersion
from ledgerd.protocol.constants import BLOCK_INTERVAL, IRREVERSIBLE_SUPPORT_MIN_RUN
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.protocol.types.versions import hardfork_version_of
from ledgerd.state.objects.validators import Validator


class WrongScheduledValidator(RuleViolation):
    """A block in the slot of another validator. On another branch of the chain it may be right."""

    code, name, what = (
        4020100,
        "wrong_scheduled_validator_exception",
        "validator does not match scheduled validator for slot",
    )


def check_header(ledger: Ledger, context: BlockContext) -> None:
    block = context.block
    _require_next(ledger, block)
    context.producer = validator = ledger.validator(AccountName(block.validator))
    _require_signed(ledger, block, validator, context.skip)


def require_signed_in_turn(ledger: Ledger, block: Block, validator: Validator, skip: SkipFlags) -> None:
    """The same, of a validator as the head block has left it: before the block is applied."""
    _require_next(ledger, block)
    _require_signed(ledger, block, validator, skip)


def _require_next(ledger: Ledger, block: Block) -> None:
    head = ledger.globals
    require(head.head_block_id == block.previous, "head_block_id() == next_block.previous: ")
    require(head.time < block.timestamp, "head_block_time() < next_block.timestamp: ")


def _require_signed(ledger: Ledger, block: Block, validator: Validator, skip: SkipFlags) -> None:
    if not skip & Skip.VALIDATOR_SIGNATURE:
        require(
            validator.is_active and block.signee == validator.signing_key,
            "next_block.validate_signee(validator.signing_key): ",
        )
    if not skip & Skip.VALIDATOR_SCHEDULE:
        _check_turn(ledger, validator, block.timestamp)


def _check_turn(ledger: Ledger, validator: Validator, timestamp: Time) -> None:
    """In an emergency any slot will do for those who are scheduled: branches may differ in their order."""
    slot = slot_at(ledger, timestamp)
    require(slot > 0, "slot_num > 0: ")
    expected = scheduled_validator(ledger, slot)
    if validator.owner == expected:
        return
    if not is_emergency(ledger):
        raise WrongScheduledValidator(
            "Validator produced block at wrong time: ${validator}, and slot ${slot_num} is that of ${scheduled}",
            validator=validator.owner,
            slot_num=slot,
            scheduled=expected,
        )
    require(validator.owner in ledger.schedule.scheduled, "in_schedule: Validator is not in the emergency schedule")


def name_producer(ledger: Ledger, context: BlockContext) -> None:
    """Set the producer in the global properties already before the transactions are applied."""
    globals_ = ledger.globals
    if globals_.current_validator != context.producer.owner:
        ledger.remember(globals_)
        globals_.current_validator = context.producer.owner


def fix_genesis_time(ledger: Ledger, context: BlockContext) -> None:
    """The first block says when the chain began, so the clock of the node that made the genesis does not matter."""
    if context.number != 1:
        return
    globals_, hardforks = ledger.globals, ledger.hardforks
    genesis = context.block.timestamp - BLOCK_INTERVAL & 0xFFFFFFFF
    with ledger.editing(globals_, hardforks):
        globals_.genesis_time = genesis
        hardforks.processed_hardforks = (genesis, *hardforks.processed_hardforks[1:])


def process_header_extensions(ledger: Ledger, context: BlockContext) -> None:
    producer = context.producer
    for extension in context.block.extensions:
        if isinstance(extension, RunningVersion):
            ledger.remember(producer)
            producer.running_version = extension.version
        elif isinstance(extension, HardforkVote):
            with ledger.editing(producer):
                producer.hardfork_version_vote = hardfork_version_of(extension.vote.version)
                producer.hardfork_time_vote = extension.vote.time


def check_running_version(ledger: Ledger, context: BlockContext) -> None:
    """A program that does not know the rules in force may not make blocks."""
    require(
        context.producer.running_version >= ledger.hardforks.current_hardfork_version,
        "validator.running_version >= hardfork_state.current_hardfork_version: "
        "Block produced by validator that is not running current hardfork",
    )


def update_signing_validator(ledger: Ledger, context: BlockContext) -> None:
    """A validator that comes back supports what is before its block only after a run of blocks."""
    producer = context.producer
    ledger.remember(producer)
    producer.last_aslot = ledger.globals.current_aslot
    producer.last_confirmed_block_num = context.number
    if producer.current_run >= IRREVERSIBLE_SUPPORT_MIN_RUN:
        producer.last_supported_block_num = context.number
    producer.current_run += 1
