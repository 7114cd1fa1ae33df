"""Two snapshots of one block: which differences count, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.compare import NOT_COMPARED, differing
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME
from tests.sim.poison import Poison, poisoned
from tests.snapshot.recorded import market_document, packed, small_state


def differences(one: bytes, two: bytes) -> list[str]:
    return differing(Snapshot.from_bytes(one), Snapshot.from_bytes(two), TESTNET)


@pytest.fixture
def state() -> dict[str, Any]:
    return small_state()


def test_a_file_is_equal_to_itself(state: dict[str, Any]) -> None:
    assert differences(packed(state), packed(state)) == []


def test_a_balance_that_was_moved_is_found_although_all_sums_are_equal(state: dict[str, Any]) -> None:
    file = packed(state)
    assert differences(file, poisoned(file, Poison.MOVED)) == ["account"]


def test_a_record_more_and_another_order_are_found(state: dict[str, Any]) -> None:
    file = packed(state)
    state["proposal"] = [*state["proposal"], {**state["proposal"][-1], "id": 999}]
    state["validator_vote"] = state["validator_vote"][::-1]
    assert differences(file, packed(state)) in (["proposal"], ["proposal", "validator_vote"])


def test_another_head_is_the_one_difference_that_is_named(state: dict[str, Any]) -> None:
    file = packed(state)
    head_id = bytearray.fromhex(state["dynamic_global_property"][0]["head_block_id"])
    head_id[-1] ^= 1
    state["dynamic_global_property"][0]["head_block_id"] = head_id.hex()
    assert differences(file, packed(state)) == ["fork_db_head_block"]


def test_what_an_import_sets_by_itself_does_not_count() -> None:
    document = market_document("open-pm", 700)
    file, state = packed(document["state"]), document["state"]
    head = state["dynamic_global_property"][0]
    head["last_irreversible_block_num"] -= 5
    head["pm_active_markets_seeded"] = not head["pm_active_markets_seeded"]
    state["pm_oracle"][0]["active_markets"] = 77
    state["pm_market_meta"] = []
    other = packed(state)
    assert other != file
    assert differences(file, other) == []


def test_files_of_different_blocks_are_not_compared(state: dict[str, Any]) -> None:
    file = packed(state)
    with pytest.raises(SnapshotError, match="only snapshots of one block"):
        differences(file, packed(state, snapshot_block_num=121))


def test_a_record_that_cannot_be_read_is_a_fault(state: dict[str, Any]) -> None:
    file = packed(state)
    state["account"][0]["balance"] = "much"
    with pytest.raises(SnapshotError, match="a record of account"):
        differences(file, packed(state))


def test_what_is_left_out_are_fields_of_those_sections() -> None:
    for name, fields in NOT_COMPARED.items():
        assert fields <= {field.attribute for field in BY_NAME[name].fields}
