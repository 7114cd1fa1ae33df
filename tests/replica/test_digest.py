"""The digest of a state: whatever way leads to the entries, it is that of the entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.replica.digest import MODULUS, hash_of, packed_digest, read_digest

KEYS, VALUES = st.sampled_from([b"a", b"b", b"ab"]), st.one_of(st.none(), st.sampled_from([b"", b"b", b"bc"]))
CHANGES = st.lists(st.tuples(st.integers(0, 300), KEYS, VALUES))
State = dict[tuple[int, bytes], bytes]


def full(state: State) -> bytes:
    return packed_digest(sum(hash_of(number, key, value) for (number, key), value in state.items()))


@given(CHANGES)
def test_a_running_digest_is_the_full_one_and_undone_changes_leave_no_trace(
    changes: list[tuple[int, bytes, bytes | None]],
) -> None:
    state, total, undo = State(), 0, list[tuple[int, bytes, bytes | None]]()

    def change(number: int, key: bytes, value: bytes | None) -> None:
        nonlocal total
        before = state.pop((number, key), None)
        undo.append((number, key, before))
        total -= 0 if before is None else hash_of(number, key, before)
        if value is not None:
            state[number, key] = value
            total += hash_of(number, key, value)

    for each in changes:
        change(*each)
        assert packed_digest(total) == full(state)
    for each in reversed(undo.copy()):
        change(*each)
    assert state == {}
    assert packed_digest(total) == packed_digest(0)


def test_entries_that_differ_in_one_part_have_other_hashes() -> None:
    entries = [
        (1, b"a", b"bc"),
        (1, b"ab", b"c"),
        (256, b"a", b"bc"),
        (1, b"a", b"bd"),
        (1, b"abc", b""),
        (0, b"a", b"bc"),
    ]
    assert len({hash_of(*each) for each in entries}) == len(entries)


def test_a_digest_is_read_as_it_was_written() -> None:
    assert read_digest(packed_digest(-1)) == MODULUS - 1
