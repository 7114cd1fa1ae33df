"""Two states of one block, record by record: what counts as a difference, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.records import MOST_UNKNOWN, DifferingRecord, differing_records, records_of_snapshot
from tests.snapshot.recorded import market_document, packed, small_state


def differing(one: dict[str, Any], other: dict[str, Any], unknown: set[str] | None = None) -> list[DifferingRecord]:
    noted = set[str]() if unknown is None else unknown
    first, second = (records_of_snapshot(Snapshot.from_bytes(packed(each)), noted) for each in (one, other))
    with json_defaults_of(TESTNET):
        return [each for each in differing_records(first, second) if each is not None]


def test_every_record_of_both_is_counted() -> None:
    state = small_state()
    file = packed(state)
    first, second = (records_of_snapshot(Snapshot.from_bytes(file), set()) for _ in range(2))
    with json_defaults_of(TESTNET):
        found = list(differing_records(first, second))

    assert found == [None] * sum(
        len(rows) for name, rows in state.items() if name not in {"transaction", "fork_db_head_block"}
    )


def test_the_record_that_differs_is_given_as_both_have_it() -> None:
    one, other = small_state(), small_state()
    other["validator_vote"][0]["vote_created_block"] += 1

    (found,) = differing(one, other)

    assert (found.section, found.id) == ("validator_vote", one["validator_vote"][0]["id"])
    assert found.first is not None
    assert found.second == found.first | {"vote_created_block": found.first["vote_created_block"] + 1}


def test_a_record_that_one_of_both_lacks_is_found() -> None:
    one, other = small_state(), small_state()
    gone = other["account"].pop(1)
    other["proposal"].append({**other["proposal"][-1], "id": 999})

    first, second = differing(one, other)

    assert (first.section, first.id, first.second) == ("account", gone["id"], None)
    assert (second.section, second.id, second.first) == ("proposal", 999, None)


def test_marks_of_an_import_and_what_a_program_keeps_do_not_count() -> None:
    one, other = (market_document("open-pm", 700, with_metadata=True)["state"] for _ in range(2))
    other["dynamic_global_property"][0]["last_irreversible_block_num"] -= 5
    other["pm_oracle"][0]["active_markets"] = 77
    other["pm_market_meta"] = []
    other["transaction"] = []

    assert differing(one, other) == []


def test_memory_that_was_never_set_does_not_count() -> None:
    one, other = small_state(), small_state()
    names, flags = "current_shuffled_validators", "current_shuffled_validators_validations"
    record = one["block_post_validation"][0]
    last = "00" * 32
    assert record[names].endswith(last)
    other["block_post_validation"][0][flags] = record[flags][:-2] + "7f"

    assert differing(one, other) == []


def test_former_names_are_read_and_names_that_are_not_known_are_told_and_no_difference() -> None:
    one, other = small_state(), small_state()
    other["account"][0]["added"] = 1
    other["novelty"] = [{"id": 0}]
    other["dynamic_global_property"][0]["current_witness"] = other["dynamic_global_property"][0].pop(
        "current_validator"
    )
    unknown: set[str] = set()

    assert differing(one, other, unknown) == []
    assert unknown == {"account.added", "novelty"}

    other["account"][0] |= {f"added{number}": 1 for number in range(2 * MOST_UNKNOWN)}
    assert differing(one, other, unknown) == []
    assert len(unknown) == MOST_UNKNOWN


def _backwards(state: dict[str, Any]) -> None:
    state["account"].reverse()


def _twice(state: dict[str, Any]) -> None:
    state["account"].append(state["account"][-1])


def _nameless(state: dict[str, Any]) -> None:
    state["account"][0].pop("id")


def _much(state: dict[str, Any]) -> None:
    state["account"][0]["balance"] = "much"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_backwards, "is not in its place"),
        (_twice, "is not in its place"),
        (_nameless, "no id"),
        (_much, "cannot be read"),
    ],
)
def test_what_is_no_state_is_refused_and_no_difference(change: Any, words: str) -> None:
    one, other = small_state(), small_state()
    change(other)

    with pytest.raises(SnapshotError, match=words):
        differing(one, other)
