"""Every recorded chain replays to the recorded states, object by object, with the recorded operations on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgerd.chain.events import AppliedOperation, BlockApplied, Event
from ledgerd.chain.offline.invariants import check
from ledgerd.codec import codec_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.time_text import time_text
from tests.chain.recorded_chains import STATES, advance, difference, exported_state, open_chain, recorded_state
from tests.recorded import CHAINS, recorded_answers


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


BEFORE_MARKETS = {"open-pm": (13, 14), "open-main15": (40, 314, 315)}
"""The recorded heights up to which nothing but the activation of hardfork 14 has to do with markets."""


@pytest.mark.parametrize("name", BEFORE_MARKETS)
def test_a_recorded_chain_comes_to_hardfork_14_with_the_recorded_states(name: str, tmp_path: Path) -> None:
    with open_chain(name, tmp_path) as chain:
        for height in BEFORE_MARKETS[name]:
            advance(chain, name, height)
            found = difference(exported_state(chain), recorded_state(name, height), f"{name} at {height}: ")
            assert found is None, found
        assert chain.last_hardfork == 14


@pytest.mark.parametrize("name", CHAINS)
def test_a_recorded_chain_replays_to_its_states_and_operations(name: str, tmp_path: Path) -> None:
    happened: dict[int, list[AppliedOperation]] = {}

    def note(event: Event) -> None:
        if isinstance(event, BlockApplied):
            happened[event.block.number] = sorted(event.operations, key=in_order_of_history)

    with open_chain(name, tmp_path) as chain:
        chain.subscribe(note)
        for height in STATES[name]:
            advance(chain, name, height)
            found = difference(exported_state(chain), recorded_state(name, height), f"{name} at {height}: ")
            assert found is None, found
        assert check(chain) == []
    answers = recorded_answers(name, CHAINS[name])["get_ops_in_block"]
    for number, applied in happened.items():
        recorded = json.loads(answers[number, False])
        found = difference([as_answered(each) for each in applied], recorded, f"{name}, operations of {number}: ")
        assert found is None, found
