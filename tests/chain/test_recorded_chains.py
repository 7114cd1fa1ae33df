"""Every recorded chain replays to the recorded states, object by object, with the recorded operations on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied, Event
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.offline.invariants import check
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.time_text import time_text
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import REVERSIBLE_BLOCKS, ReversibleBlock
from tests.additions import METADATA
from tests.chain.observing import observe
from tests.chain.recorded_chains import (
    LATER_STATES,
    LIKE_THE_RECORDING,
    MARKET_STATES,
    STATES,
    advance,
    difference,
    difference_from,
    recorded_state,
)
from tests.recorded import (
    ALL_CHAINS,
    ANSWERED,
    FIRST_LATER,
    LAST_LATER,
    LATER_CHAIN,
    later_blocks,
    recorded_answers,
    recorded_sections,
)
from tests.rpc.api.serving import chain_with_history, keep_followed
from tests.snapshot.recorded import packed

ALL_STATES = {**STATES, **MARKET_STATES}

BEGUN_WITH = {
    *(("open-1", 200), ("open-1", 1200), ("open-1", 2718), ("open-2", 617), ("open-hf0", 336), ("open-main", 900)),
    *(("open-pm", 300), ("open-pm", 1200), ("open-pm", 2027), ("open-pm2", 463)),
    *(("open-big", 207), ("open-big", 1350), ("open-main15", 330), ("open-main15", 1216)),
}
"""Where nodes were asked for answers, and sent transactions: other tests go on from there."""

LEGACY_RESIDUAL = 788
"""What fixed awards had paid beyond the supply in the state that lives on (spec 11, section 8.6)."""


def as_answered(applied: AppliedOperation) -> dict[str, object]:
    """An applied operation as the reference's history shows it."""
    return {
        "trx_id": applied.transaction_id.hex(),
        "block": applied.block,
        "trx_in_block": applied.transaction_in_block,
        "op_in_trx": applied.operation_in_transaction,
        "virtual_op": applied.virtual_operation,
        "timestamp": time_text(applied.timestamp),
        "op": json.loads(codec_of(Operation).to_json(applied.operation)),
    }


def in_order_of_history(applied: AppliedOperation) -> tuple[int, int, int]:
    return applied.transaction_in_block, applied.operation_in_transaction, applied.virtual_operation


@pytest.mark.parametrize("name", ALL_CHAINS)
def test_a_recorded_chain_replays_to_its_states_and_operations(name: str, tmp_path: Path) -> None:
    happened: dict[int, list[AppliedOperation]] = {}

    def note(event: Event) -> None:
        if isinstance(event, BlockApplied):
            happened[event.block.number] = sorted(event.operations, key=in_order_of_history)

    with chain_with_history(name, tmp_path) as chain:
        observe(chain, note)
        for height in ALL_STATES[name]:
            advance(chain, name, height, LIKE_THE_RECORDING)
            is_last = height == ALL_STATES[name][-1]
            found = difference_from(recorded_state(name, height), chain, f"{name} at {height}: ", is_whole=is_last)
            assert found is None, found
            if (name, height) in BEGUN_WITH:
                keep_followed(name, height, tmp_path)
        assert check(chain) == []
    answers = recorded_answers(name, ANSWERED[name])["get_ops_in_block"]
    for number in range(1, ANSWERED[name] + 1):
        recorded = json.loads(answers[number, False])
        ours = [as_answered(each) for each in happened[number]]
        found = difference(ours, recorded, f"{name}, operations of {number}: ")
        assert found is None, found


def test_a_snapshot_of_hardfork_13_lives_on_through_14_and_15_to_the_recorded_states(tmp_path: Path) -> None:
    blocks = [codec_of(Block).decode(packed) for packed in later_blocks()]
    snapshot = packed(recorded_sections(f"open-1/state-{FIRST_LATER}"))
    folder = tmp_path / STATE_FOLDER
    folder.mkdir()
    with Store.open(folder, STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(snapshot), TESTNET, LEGACY_RESIDUAL)
        store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=FIRST_LATER, packed=blocks[0].packed))
        store.commit()

    with Chain.open(tmp_path, TESTNET, clock=lambda: 0.0) as chain:
        for height in LATER_STATES:
            for block in blocks[chain.head_number - FIRST_LATER + 1 : height - FIRST_LATER + 1]:
                chain.push_block(block, commit=False).or_raise()
            chain.commit()
            recorded = recorded_sections(f"{LATER_CHAIN}/state-{height}")
            recorded.pop(METADATA)
            is_last = height == LATER_STATES[-1]
            found = difference_from(recorded, chain, f"{LATER_CHAIN} at {height}: ", is_whole=is_last)
            assert found is None, found
        for block in blocks[chain.head_number - FIRST_LATER + 1 :]:
            chain.push_block(block, commit=False).or_raise()
        assert chain.head_number == LAST_LATER
