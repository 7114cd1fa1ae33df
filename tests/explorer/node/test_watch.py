"""The slots of a round, from blocks and a schedule alone."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerd.explorer.node.watch import MOST_SLOTS, BlockFacts, ChainWatch, scheduled_names
from ledgerd.explorer.words.times import text_of

START = 1_800_000_000
NAMES = tuple(f"v{number:02}" for number in range(21))


def schedule_of(names: Sequence[str], next_shuffle: int) -> dict[str, object]:
    packed = "".join(each.encode().ljust(32, b"\0").hex() for each in names)
    return {
        "current_shuffled_validators": packed,
        "num_scheduled_validators": len(names),
        "next_shuffle_block_num": next_shuffle,
    }


def chain_with(made: Sequence[bool], names: Sequence[str] = NAMES, before: int = 30) -> ChainWatch:
    """A chain of full slots, and then those of a round so far, in which some were missed."""
    watch, number, blocks = ChainWatch(), 0, []
    slots = [True] * before + list(made)
    for slot, was_made in enumerate(slots):
        if was_made:
            number += 1
            name = names[slot % len(names)]
            blocks.append(BlockFacts(number, f"{number:040x}", text_of(START + 3 * slot), name, 0, 0))
    last = max(slot for slot, was_made in enumerate(slots) if was_made)
    properties = {"head_block_number": number, "time": text_of(START + 3 * last), "current_aslot": last}
    watch.move_to(properties, schedule_of(names, before + len(names)), blocks)
    return watch


def test_names_of_the_schedule_are_cut_at_their_zeros() -> None:
    assert scheduled_names(schedule_of(("a", "validator.b"), 1)) == ("a", "validator.b")
    assert scheduled_names({}) == ()


def test_a_round_has_its_made_missed_and_coming_slots_with_names() -> None:
    made = [True, True, False, True, True]
    slots = chain_with(made).slots()
    assert [each.state for each in slots[:5]] == ["made", "made", "missed", "made", "made"]
    assert {each.state for each in slots[5:]} == {"coming"}
    assert len(slots) == 22  # a missed slot makes the round longer
    assert [each.validator for each in slots] == [NAMES[(30 + place) % 21] for place in range(22)]
    assert [each.block for each in slots[:4]] == [31, 32, 0, 33]


def test_at_the_beginning_of_a_round_its_slots_are_all_to_come() -> None:
    slots = chain_with([]).slots()
    assert [each.state for each in slots].count("coming") == 21


def test_a_short_round_shows_the_latest_21_slots() -> None:
    slots = chain_with([], names=("viz",)).slots()
    assert len(slots) == 21
    assert [each.state for each in slots] == ["made"] * 20 + ["coming"]


def test_a_round_of_many_misses_shows_no_more_than_there_is_room_for() -> None:
    slots = chain_with([*([False] * 60), True]).slots()
    assert len(slots) == MOST_SLOTS
    assert slots[-1].state == "coming"


def test_a_chain_without_a_block_has_nothing_to_show_and_says_that_it_is_away() -> None:
    watch = ChainWatch()
    assert (watch.head, watch.participation, watch.has_markets) == (0, 0, False)
    assert watch.away


def test_who_follows_is_told_of_blocks_and_once_of_each_reason_to_be_away() -> None:
    watch, told = chain_with([True]), []
    watch.on_change.append(lambda: told.append(watch.away))
    watch.lose("gone")
    watch.lose("gone")
    watch.move_to(watch.properties, watch.schedule, [])
    assert told == ["gone", ""]


def test_markets_are_there_from_version_4_on() -> None:
    watch = ChainWatch()
    for version, has in (("3.2.0", False), ("4.0.0", True), ("10.0.0", True)):
        watch.hardfork = version
        assert watch.has_markets is has
