"""A validator that signs only while its shadow is equal: no block of a faulty node has a parent of another state."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ledgerd.shadow.gate import SigningGate
from ledgerd.shadow.keeping.record import EqualBlock, FirstDifference, ShadowRecord
from tests.producer.virtual_time import Station
from tests.producer.virtual_time import World as ProducerWorld
from tests.shadow.world import BEGINS, BLOCK_SECONDS, Played, hashed

NOW = 1_000_000


def gate_with(record: ShadowRecord | None, most_behind: int = 0, until: int = 0) -> SigningGate:
    gate = SigningGate(most_behind, lambda: NOW)
    gate.update(record, until)
    return gate


def ids(number: int) -> str:
    return f"{number:08x}"


def equal_at(number: int) -> ShadowRecord:
    return ShadowRecord(equal=EqualBlock(number, ids(number), NOW - 3))


def test_the_head_that_was_found_equal_may_be_signed_on() -> None:
    assert gate_with(equal_at(7)).refusal(7, ids) == ""


@pytest.mark.parametrize("record", [None, ShadowRecord()])
def test_nothing_is_signed_before_anything_is_known(record: ShadowRecord | None) -> None:
    assert gate_with(record).refusal(7, ids) == "shadow-required: the shadow has compared nothing yet"


@pytest.mark.parametrize(
    ("head", "most_behind", "is_open"), [(8, 0, False), (8, 1, True), (9, 1, False), (6, 5, False)]
)
def test_a_head_above_the_equal_block_needs_leave(head: int, most_behind: int, *, is_open: bool) -> None:
    refusal = gate_with(equal_at(7), most_behind).refusal(head, ids)

    assert (refusal == "") is is_open
    assert is_open or "both were last found equal at block 7, 3 s ago" in refusal


def test_a_branch_that_the_other_node_has_not_is_not_signed_on() -> None:
    assert gate_with(equal_at(7), 5).refusal(8, lambda _: "another") != ""


def test_a_difference_closes_the_gate_and_an_override_opens_it() -> None:
    record = equal_at(7)
    record.first = FirstDifference(True, "words", 5, NOW, "file")

    assert "has found a difference, from block 5 on" in gate_with(record).refusal(7, ids)
    assert gate_with(record, until=NOW + 1).refusal(7, ids) == ""
    assert gate_with(record, until=NOW).refusal(7, ids) != ""


def test_answers_that_differ_at_two_heads_close_it() -> None:
    record = equal_at(7)
    record.doubt = "get_accounts: balance"
    assert "answers differ: get_accounts" in gate_with(record).refusal(7, ids)


@pytest.mark.parametrize("seed", range(6))
def test_a_faulty_node_signs_no_block_on_a_state_that_differs(seed: int, tmp_path: Path) -> None:
    """Ours has slots among others, and from some block on its supply is wrong: none of its blocks has such a parent."""
    played = Played(seed, tmp_path, rate=20.0, hours=0)
    gate = SigningGate(0, played.world.clock)
    random = Random(seed)  # noqa: S311 - a seed
    breaks = played.ours.head + random.randint(40, 80)

    def broken(head: int, method: str, _arguments: object, answer: object) -> object:
        if method == "get_dynamic_global_properties" and isinstance(answer, dict) and head >= breaks:
            return {**answer, "current_supply": hashed("wrong", head)}
        return answer

    played.ours.plant = broken
    signed, refused, last = [], 0, 0.0
    while played.ours.head < breaks + 30:
        pause = played.shadow.step()
        gate.update(played.record, 0)
        played.world.now += pause
        slot, into = divmod(played.world.now, BLOCK_SECONDS)
        if slot == last or into < BLOCK_SECONDS - 0.6 or int(slot) % 3:
            continue
        last = slot
        head = played.ours.head
        if gate.refusal(BEGINS + head, lambda number: played.ours.id(number - BEGINS)):
            refused += 1
        else:
            signed.append(head)

    assert [head for head in signed if head >= breaks] == []
    assert len(signed) > 8
    assert refused > 8


def test_a_producer_asks_the_gate_before_each_block(tmp_path: Path) -> None:
    with Station(tmp_path, ProducerWorld()) as station:
        gate = SigningGate(0, lambda: NOW)
        chain = station.chain
        station.producer.signing_refusal = lambda: gate.refusal(chain.head_number, lambda _: chain.head_id.hex())
        station.run(12)
        assert chain.head_number == 0

        gate.update(None, NOW + 1)
        station.run_until_block(3)
        gate.update(ShadowRecord(equal=EqualBlock(3, chain.head_id.hex(), NOW)), 0)
        station.run(30)

        assert chain.head_number == 4
