"""Tests mirror the source: each module has a test module of its own name, or stands in a list with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, python_files, write_tree
from tests.house.without_twin import GROUPS
from tests.house.without_twin_group import Group


def twinless(root: Path) -> set[str]:
    """Modules without a test module of their name; packages themselves and `__main__` count for none."""
    package = root / "src" / PACKAGE
    found = set()
    for path in python_files(package):
        inside = path.relative_to(package)
        if not inside.stem.startswith("__") and not (root / "tests" / inside.with_name(f"test_{path.name}")).exists():
            found.add(inside.with_suffix("").as_posix())
    return found


def faults(root: Path, groups: Iterable[Group]) -> Iterator[str]:
    """Modules that are in neither place, and entries of the list that are wrong."""
    groups = tuple(groups)
    missing, listed = twinless(root), [each for group in groups for each in group.modules.split()]
    yield from (f"{each}: has no twin, and no reason" for each in sorted(missing - set(listed)))
    for each in sorted(set(listed)):
        if listed.count(each) > 1:
            yield f"{each}: is listed twice"
        if not (root / "src" / PACKAGE / f"{each}.py").exists():
            yield f"{each}: is gone"
        elif each not in missing:
            yield f"{each}: has a twin by now"
    for group in groups:
        tests = [root / "tests" / each for each in group.proven_by]
        yield from (f"{each.relative_to(root)}: is gone, and proves nothing" for each in tests if not each.exists())
        if not group.why or not group.proven_by:
            yield f"{group.modules.split()[0]}: without a reason, or without a test"


def test_every_module_has_a_twin_or_a_reason() -> None:
    assert [*faults(ROOT, GROUPS)] == []


STATE = Group("why", ("state/test_store.py",), "state/undo state/cache")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"src/ledgerd/state/disk.py": ""}, "state/disk: has no twin, and no reason"),
        ({"src/ledgerd/rpc/api/blocks.py": "", "tests/rpc/test_blocks.py": ""}, "rpc/api/blocks: has no twin"),
        ({"tests/state/test_undo.py": ""}, "state/undo: has a twin by now"),
    ],
)
def test_a_module_in_neither_place_and_a_twin_in_both_are_found(
    tmp_path: Path, changed: dict[str, str], fault: str
) -> None:
    standing = ("src/ledgerd/state/store.py", "src/ledgerd/state/undo.py", "src/ledgerd/state/cache.py")
    root = write_tree(tmp_path, {**dict.fromkeys(standing, ""), "tests/state/test_store.py": ""})
    assert [*faults(root, [STATE])] == []

    (found,) = faults(write_tree(root, changed), [STATE])

    assert found.startswith(fault)


def test_an_entry_or_a_proof_that_is_gone_and_one_that_stands_twice_are_found(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"src/ledgerd/state/undo.py": "", "src/ledgerd/state/__init__.py": ""})

    assert [*faults(root, [STATE, STATE._replace(modules="state/undo")])] == [
        "state/cache: is gone",
        "state/undo: is listed twice",
        "tests/state/test_store.py: is gone, and proves nothing",
        "tests/state/test_store.py: is gone, and proves nothing",
    ]


def test_a_group_without_a_reason_is_found(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"src/ledgerd/state/undo.py": ""})

    assert [*faults(root, [Group("", (), "state/undo")])] == ["state/undo: without a reason, or without a test"]
