"""Validators come and go, and no series has the count of another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.metrics.layout import VALIDATOR_PLACES
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table.validators import VALIDATOR_BLOCKS, VALIDATOR_LAST
from tests.metrics.memories import NodeMemory, node_memory

BLOCKS = VALIDATOR_BLOCKS.name


def counted(node: NodeMemory) -> dict[str, float]:
    return {labels[0]: numbers[0] for labels, numbers in node.values()[BLOCKS].items()}


def test_who_is_not_shown_counts_as_other() -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        blocks = places.counters(VALIDATOR_BLOCKS)
        places.show(["alice", "bob"])
        for name in ("alice", "carol", "dave", "alice"):
            blocks[places[name]].add()

        assert counted(node) == {"alice": 2.0, "bob": 0.0, "other": 2.0}


def test_a_place_that_changes_hands_begins_at_zero_and_without_a_gauge() -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        blocks, last = places.counters(VALIDATOR_BLOCKS), places.gauges(VALIDATOR_LAST)
        assert places.show(["alice"])
        blocks[places["alice"]].add(5)
        last[places["alice"]].set(17)
        assert not places.show(["alice"])
        assert places.show(["bob"])

        assert counted(node) == {"bob": 0.0, "other": 0.0}
        assert VALIDATOR_LAST.name not in node.values()


@given(st.lists(st.lists(st.integers(0, 200), max_size=VALIDATOR_PLACES + 10, unique=True), max_size=5))
def test_any_succession_of_rounds_is_bounded_and_named_right(rounds: list[list[int]]) -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        blocks = places.counters(VALIDATOR_BLOCKS)
        for numbers in rounds:
            names = [f"v{number}" for number in numbers]
            before = counted(node)
            places.show(names)
            for name in names:
                blocks[places[name]].add()
            shown = set(names[: VALIDATOR_PLACES - 1])
            now = counted(node)
            assert set(now) == {"other", *shown}
            assert all(now[name] == before.get(name, 0.0) + 1.0 for name in shown)


def test_too_long_a_name_and_one_like_the_rest_count_as_other() -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        places.show(["x" * 40, "other", "alice"])

        assert set(counted(node)) == {"other", "alice"}
