"""The modules of the store know each other in one direction only."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT, imports, write_tree

SRC = ROOT / "src"
ROOM = "ledgerd.state"


def knowledge(src: Path) -> dict[str, set[str]]:
    """For each module of the room, those that it imports, for type checking too."""
    folder = src / ROOM.replace(".", "/")
    files = {
        path.stem: path for path in folder.rglob("*.py") if path.stem != "__init__" and "objects" not in path.parts
    }
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        targets = {each.target for each in imports(path, src)}
        parts = {part for target in targets if target.startswith(f"{ROOM}.") for part in target.split(".")[-2:]}
        found[name] = parts & files.keys() - {name, path.parent.name}
    return found


def test_no_module_knows_one_that_knows_it() -> None:
    order = list(TopologicalSorter(knowledge(SRC)).static_order())

    assert order.index("cache") < order.index("open_index") < order.index("open_table") < order.index("store")
    assert order.index("sessions") < order.index("open_table")


def test_what_holds_the_books_does_not_know_the_other_books() -> None:
    known = knowledge(SRC)

    assert not known["cache"] & {"open_index", "open_table", "sessions", "undo"}
    assert not known["open_index"] & {"open_table", "sessions", "undo"}
    assert not known["sessions"] & {"cache", "open_index", "open_table"}


def test_a_circle_is_found(tmp_path: Path) -> None:
    text = "if TYPE_CHECKING:\n    from ledgerd.state.{} import Thing\n"
    names = ("one", "two", "three")
    circle = dict(zip(names, (*names[1:], names[0]), strict=True))
    tree = write_tree(tmp_path, {f"ledgerd/state/{name}.py": text.format(known) for name, known in circle.items()})

    with pytest.raises(CycleError):
        list(TopologicalSorter(knowledge(tree)).static_order())
