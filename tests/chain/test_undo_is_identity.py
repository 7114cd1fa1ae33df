"""Undo is the identity: whatever was done, or failed half way, all is exactly as before once it is taken back.

`UNDO_OPERATIONS=200000` in the environment tries more operations than a usual run does, and blocks of more chains.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.refused import RefusedBlocks
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.chain.steps import applying
from ledgerd.chain.steps.applying import STEPS, apply_block
from ledgerd.codec import CodecError, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects import TABLES
from tests.chain.networks import ALICE, VIZ
from tests.chain.recorded_chains import advance, difference_from, recorded_state
from tests.chain.replays import open_replayed
from tests.chain.traffic import Traffic, recorded_operations
from tests.chain.whole_state import first_change, whole_state
from tests.recorded import CHAINS, recorded_blocks

OPERATIONS = int(os.environ.get("UNDO_OPERATIONS", "1600"))
"""How many random operations are tried."""

PLACES = (("open-1", 1200), ("open-hf0", 336), ("open-main", 900), ("open-pm", 1200), ("open-main15", 1216))
"""Chains and heights at which they are: after hardfork 13, before hardfork 1, and with markets."""

RANGES = (("open-hf0", 120, 336), ("open-main", 40, 900), ("open-pm2", 12, 463))
"""Blocks that bring hardforks, those of mainnet's first hardforks, and those of markets."""
MORE_RANGES = (("open-1", 600, 1200), ("open-2", 120, 617))

OF_MARKETS_AND_AGENTS = range(66, 106)
NEW_KINDS = {"open-pm": 15, "open-main15": 12}
"""So many kinds of operations of hardforks 14 and 15 are taken there at least, and not only refused."""

KEPT, TAKEN_BACK = 30, 50
"""Operations of a round."""

UNSIGNED = Skip.TRANSACTION_SIGNATURES | Skip.AUTHORITIES


def state_of(chain: Chain) -> dict[str, object]:
    return whole_state(chain.parts.store, head=chain.head_number)


def block_of(name: str, number: int) -> Block:
    return codec_of(Block).decode(recorded_blocks(name)[number - 1])


def apply_operation(chain: Chain, operation: Operation, salt: int) -> None:
    """As a transaction of its own, which needs no signature."""
    ledger = chain.parts.ledger
    apply_transaction(ledger, unsigned_transaction(chain.head_id, ledger.now + 1 + salt, (operation,)), UNSIGNED)


# -- operations


@pytest.mark.parametrize(("name", "height"), PLACES)
def test_random_operations_leave_no_trace_once_they_are_undone(name: str, height: int, tmp_path: Path) -> None:
    """Each round stands on operations that were kept for it, and is taken back as a whole."""
    operations = iter(Traffic(recorded_operations(name, height, range(height - 60, height)), seed=height))
    rounds = -(-OPERATIONS // len(PLACES) // (KEPT + TAKEN_BACK))
    refused, taken = 0, set()
    with open_replayed(name, height, tmp_path) as chain:
        chain.parts.ledger.is_producing = True
        at_rest = state_of(chain)
        for number in range(rounds):
            with chain.parts.store.begin():
                for salt, operation in enumerate(islice(operations, KEPT)):
                    with chain.parts.store.begin() as session:
                        try:
                            apply_operation(chain, operation, salt)
                        except (RuleViolation, CodecError):
                            continue
                        session.squash()
                        taken.add(type(operation))
                before = state_of(chain)
                tried = list(islice(operations, TAKEN_BACK))
                for salt, operation in enumerate(tried, KEPT):
                    with chain.parts.store.begin():
                        try:
                            apply_operation(chain, operation, salt)
                        except (RuleViolation, CodecError):
                            refused += 1
                        else:
                            taken.add(type(operation))
                changed = first_change(before, state_of(chain))
                assert changed is None, f"{changed}\nafter one of {tried}"
            changed = first_change(at_rest, state_of(chain))
            assert changed is None, f"round {number}: {changed}"
    assert 0.1 < refused / (rounds * TAKEN_BACK) < 0.9
    new = {each for each in taken if each.__struct_config__.tag in OF_MARKETS_AND_AGENTS}
    assert len(new) >= NEW_KINDS.get(name, 0)


@pytest.mark.parametrize(("name", "height"), PLACES)
def test_waiting_transactions_leave_no_trace_once_they_are_dropped(name: str, height: int, tmp_path: Path) -> None:
    with open_replayed(name, height, tmp_path) as chain:
        before = state_of(chain)
        operations = iter(Traffic(recorded_operations(name, height, range(height - 5, height)), seed=1))
        for salt, operation in enumerate(islice(operations, 300)):
            draft = unsigned_transaction(chain.head_id, chain.head_time + 1 + salt, (operation,))
            try:
                chain.push_transaction(draft, UNSIGNED)
            except (RuleViolation, CodecError):
                continue
        assert len(chain.waiting) > 50
        chain.parts.pending.drop_session()
        assert first_change(before, state_of(chain)) is None


# -- blocks


@pytest.mark.parametrize(("name", "first", "last"), RANGES + MORE_RANGES if "UNDO_OPERATIONS" in os.environ else RANGES)
def test_blocks_leave_no_trace_once_they_are_undone_and_do_the_same_again(
    name: str, first: int, last: int, tmp_path: Path
) -> None:
    """All of them at once, hardforks included; then the chain goes on as if nothing had been."""
    with open_replayed(name, first, tmp_path) as chain:
        before = whole_state(chain.parts.store)
        with chain.parts.store.begin():
            for number in range(first + 1, last + 1):
                with chain.parts.store.begin() as session:
                    apply_block(chain.parts.ledger, block_of(name, number), VERIFIED_BEFORE)
                    session.squash()
        changed = first_change(before, whole_state(chain.parts.store))
        assert changed is None, changed
        advance(chain, name, last)
        assert difference_from(recorded_state(name, last), chain, f"{name} at {last}: ") is None


@pytest.mark.parametrize(("name", "first", "last"), [("open-2", 300, 500), ("open-pm2", 300, 463)])
def test_blocks_that_are_applied_once_more_leave_what_they_left_with_all_checks(
    name: str, first: int, last: int, tmp_path: Path
) -> None:
    """After a kill the blocks of the log are applied again; what they said is refused a second time as before."""
    states = []
    for skip in (Skip.NOTHING, VERIFIED_BEFORE):
        with open_replayed(name, first, tmp_path / str(skip)) as chain:
            advance(chain, name, last, skip)
            states.append(state_of(chain))
            latest = next(each for at in range(last, first, -1) if (each := block_of(name, at)).transactions)
            with pytest.raises(RuleViolation, match="Duplicate transaction check failed"):
                chain.push_transaction(latest.transactions[-1])
    changed = first_change(*states)
    assert changed is None, changed


@pytest.mark.parametrize("name", CHAINS)
def test_blocks_that_are_popped_leave_no_trace(name: str, tmp_path: Path) -> None:
    """As far down as the irreversible block, through blocks that were committed together and one by one."""
    last = CHAINS[name] if CHAINS[name] < 1000 else 300
    states = {}
    with open_replayed(name, last - 40, tmp_path) as chain:
        for number in range(last - 39, last + 1):
            chain.push_block(block_of(name, number), Skip.TRANSACTION_DUPES).or_raise()
            states[number] = whole_state(chain.parts.store, TABLES, head=number)
        irreversible = chain.irreversible
        while chain.parts.trunk.can_pop():
            chain.pop_block()
            chain.parts.pending.drop_session()
            chain.parts.pending.transactions.clear()
            head = chain.head_number
            if head in states:
                changed = first_change(states[head], whole_state(chain.parts.store, TABLES, head=head))
                assert changed is None, f"{head}: {changed}"
        assert chain.head_number == irreversible
        advance(chain, name, last)
        assert first_change(states[last], whole_state(chain.parts.store, TABLES, head=last)) is None


# -- what fails half way


def is_refused(chain: Chain, before: dict[str, object], block: Block, skip: int = Skip.NOTHING) -> None:
    """Nothing of a block stays that breaks a rule, in the state, among the branches or in the log."""
    head, logged = chain.head_id, chain.block_log.head_number
    with pytest.raises(RuleViolation):
        chain.push_block(block, skip).or_raise()
    changed = first_change(before, state_of(chain))
    assert changed is None, changed
    assert (chain.head_id, chain.block_log.head_number) == (head, logged)
    assert block.id not in chain.parts.forks


@pytest.mark.parametrize("name", CHAINS)
def test_a_block_with_anything_wrong_leaves_no_trace(name: str, tmp_path: Path) -> None:
    last = {"open-1": 230, "open-2": 260, "open-hf0": 300, "open-main": 700}[name]
    with open_replayed(name, last, tmp_path) as chain:
        good = block_of(name, last + 1)
        far_too_much = unsigned_transaction(
            chain.head_id, chain.head_time + 60, (Transfer(VIZ, ALICE, tokens(10**17), ""),)
        )
        waves_through = VERIFIED_BEFORE & ~Skip.REFUSAL_OF_DUPES
        before = state_of(chain)
        is_refused(chain, before, replace(good, timestamp=chain.head_time), VERIFIED_BEFORE)
        is_refused(chain, before, replace(good, validator="nobody"), waves_through)
        is_refused(chain, before, replace(good, transaction_merkle_root=b"\1" * 20), Skip.VALIDATOR_SIGNATURE)
        is_refused(chain, before, replace(good, validator_signature=b"\x20" + bytes(64)))
        is_refused(chain, before, replace(good, transactions=(*good.transactions, far_too_much)), waves_through)
        if good.transactions:
            twice = (*good.transactions, *good.transactions)
            is_refused(chain, before, replace(good, transactions=twice), waves_through)
        assert chain.push_block(good, Skip.TRANSACTION_DUPES).has_moved


@pytest.mark.parametrize(("name", "height"), [("open-1", 480), ("open-hf0", 335), ("open-main", 188)])
def test_a_block_that_fails_between_any_two_steps_leaves_no_trace(
    name: str, height: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block 189 of `open-main` brings a hardfork."""

    def fail(_ledger: Ledger, _context: BlockContext) -> None:
        raise RuleViolation("no further")

    with open_replayed(name, height, tmp_path) as chain:
        block, before = block_of(name, height + 1), state_of(chain)
        monkeypatch.setattr(RefusedBlocks, "add", lambda *_: None)  # or it would be refused without being applied
        for place in range(1, len(STEPS) + 1):
            monkeypatch.setattr(applying, "STEPS", (*STEPS[:place], fail, *STEPS[place:]))
            is_refused(chain, before, block, Skip.TRANSACTION_DUPES)
        monkeypatch.undo()
        assert chain.push_block(block, Skip.TRANSACTION_DUPES).has_moved


def test_a_failure_that_is_no_broken_rule_leaves_no_trace_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_ledger: Ledger, _context: BlockContext) -> None:
        raise MemoryError

    with open_replayed("open-2", 200, tmp_path) as chain:
        before = state_of(chain)
        monkeypatch.setattr(applying, "STEPS", (*STEPS, fail))
        with pytest.raises(MemoryError):
            chain.push_block(block_of("open-2", 201), Skip.TRANSACTION_DUPES).or_raise()
        assert first_change(before, state_of(chain)) is None
