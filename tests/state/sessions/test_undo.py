"""What a session remembers of a table, and how the memories of two sessions become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.state.sessions.undo import TableUndo
from tests.state.items import Item

Rows = dict[int, str]
Change = tuple[str, int]
CHANGES = st.lists(st.tuples(st.sampled_from(("create", "edit", "remove")), st.integers(0, 3)), max_size=8)


def apply(rows: Rows, undo: TableUndo[Item], changes: list[Change], next_id: int, mark: str) -> int:
    """Make changes to rows of names, and note them as a table does."""
    for step, (kind, pick) in enumerate(changes):
        ids = sorted(rows)
        if kind == "create":
            rows[next_id] = f"{mark}{step}"
            undo.created.add(next_id)
            next_id += 1
        elif ids:
            row_id = ids[pick % len(ids)]
            if kind == "edit":
                if row_id not in undo.created:
                    undo.modified.setdefault(row_id, Item(row_id, rows[row_id]))
                rows[row_id] = f"{mark}{step}"
            else:
                name = rows.pop(row_id)
                if row_id in undo.created:
                    undo.created.discard(row_id)
                else:
                    undo.removed[row_id] = Item(row_id, name)
    return next_id


def restored(rows: Rows, undo: TableUndo[Item]) -> Rows:
    """The rows before the changes that are remembered."""
    before = {row_id: name for row_id, name in rows.items() if row_id not in undo.created}
    before |= {row_id: item.name for row_id, item in undo.removed.items()}
    return before | {row_id: item.name for row_id, item in undo.modified.items()}


@given(CHANGES, CHANGES)
def test_two_memories_made_one_restore_what_both_do(older: list[Change], newer: list[Change]) -> None:
    start = {0: "first", 1: "second", 2: "third"}
    rows = dict(start)
    below, above = TableUndo[Item](3, ()), TableUndo[Item](0, ())
    above.next_id = apply(rows, below, older, 3, "older")
    between = dict(rows)
    apply(rows, above, newer, above.next_id, "newer")
    assert restored(rows, above) == between

    below.absorb(above)

    assert restored(rows, below) == start
    assert below.next_id == 3
    assert not below.created & (below.removed.keys() | below.modified.keys())


@given(CHANGES)
def test_the_changed_ids_are_those_of_all_that_differs(changes: list[Change]) -> None:
    start = {0: "first", 1: "second", 2: "third"}
    rows, undo = dict(start), TableUndo[Item](3, ())
    apply(rows, undo, changes, 3, "new")

    differing = {row_id for row_id in start.keys() | rows.keys() if start.get(row_id) != rows.get(row_id)}

    assert differing == undo.changed_ids()


def test_the_older_ranks_count_and_new_objects_have_none_to_go_back_to() -> None:
    below, above = TableUndo[Item](3, (3,)), TableUndo[Item](4, (4,))
    below.created = {3}
    below.ranks = {0: (0,)}
    above.ranks = {0: (9,), 1: (1,), 3: (3,)}

    below.absorb(above)

    assert below.ranks == {0: (0,), 1: (1,)}
    assert below.next_ranks == (3,)
