"""`ledgerd debug states`: where two states differ, object by object and field by field. A state is a data directory or
a snapshot; beside a snapshot only what a snapshot holds is compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ledgerd.codec.codec import codec_of
from ledgerd.node.config.configuration import read_configuration
from ledgerd.projections.reading import reading_both
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.records import OF_A_PROGRAM, without_marks
from ledgerd.snapshot.file.sections import HEAD_BLOCK, OLD_SECTIONS, SECTIONS, SnapshotSection
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View

DIFFERENT = 1

Objects = Callable[[], Iterator[tuple[Any, Any]]]
"""Walks a table by id: the id of each object, and its JSON, or what is read as that."""
State = dict[str, Objects]


class ObjectText(str):
    """The JSON of an object of a state, which is read only where that of the other side is not the same text."""

    __slots__ = ()


def run(chosen: argparse.Namespace) -> int:
    if chosen.first.resolve() == chosen.second.resolve():
        raise OperatorError("both are the same: name two states")
    with ExitStack() as stack:
        in_full = chosen.first.is_dir() and chosen.second.is_dir()
        first, second = (_opened(path, stack, in_full=in_full) for path in (chosen.first, chosen.second))
        if chosen.without_marks:
            first, second = _without_marks(first), _without_marks(second)
        names = list(dict.fromkeys([*first, *second]))
        count = sum(
            _printed(name, _differences(name, first.get(name), second.get(name)), chosen.most) for name in names
        )
    sys.stdout.write(f"{len(names)} tables compared, {count} differences\n")
    return DIFFERENT if count else 0


def _printed(name: str, differences: Iterator[str], most: int) -> int:
    shown = list(islice(differences, max(most, 0)))
    more = sum(1 for _ in differences)
    sys.stdout.writelines(f"{line}\n" for line in shown)
    if more:
        sys.stdout.write(f"{name}: {more} more\n")
    return len(shown) + more


def _opened(path: Path, stack: ExitStack, *, in_full: bool) -> State:
    if not path.is_dir():
        return _of_snapshot(path)

    folder = read_configuration({"data-dir": [str(path)]}, Path.cwd()).chain.shared_file_dir
    if not folder.is_dir():
        raise OperatorError(f"there is no state in {path}: give a data directory or a snapshot")
    state, kept = stack.enter_context(reading_both(folder))
    return _all_tables(state, kept) if in_full else _sections(state)


def _all_tables(state: View, kept: View) -> State:
    def objects(view: View, table: Table[Any]) -> Iterator[tuple[Any, Any]]:
        codec = codec_of(table.record)
        return ((entity.id, ObjectText(codec.to_json(entity))) for entity in view.scan(table))

    tables = (*((state, each) for each in STORED_TABLES), *((kept, each) for each in PROJECTED_TABLES))
    return {table.title: partial(objects, view, table) for view, table in tables}


def _sections(view: View) -> State:
    def objects(section: SnapshotSection[Any]) -> Iterator[tuple[Any, Any]]:
        return ((entity.id, ObjectText(section.text(entity))) for entity in view.scan(section.table))

    return {each.name: partial(objects, each) for each in SECTIONS}


def _of_snapshot(path: Path) -> State:
    tables: dict[str, list[tuple[Any, Any]]] = {section.name: [] for section in SECTIONS}
    try:
        for written, record in Snapshot.from_path(path).records():
            name = OLD_SECTIONS.get(written, written)
            if name != HEAD_BLOCK:
                tables.setdefault(name, []).append((record["id"] if isinstance(record, dict) else None, record))
    except OSError as problem:
        raise OperatorError(f"{path} cannot be read: {problem.strerror}") from problem
    except SnapshotError as problem:
        raise OperatorError(f"{path}: {problem}") from problem
    return {name: partial(iter, objects) for name, objects in tables.items()}


def _without_marks(state: State) -> State:
    """Without what two sound programs write differently into a snapshot of one block."""
    return {
        name: partial(_without_fields, name, objects) for name, objects in state.items() if name not in OF_A_PROGRAM
    }


def _without_fields(name: str, objects: Objects) -> Iterator[tuple[Any, Any]]:
    for number, record in objects():
        yield number, without_marks(name, _read(record))


def _differences(name: str, first: Objects | None, second: Objects | None) -> Iterator[str]:
    if first is None or second is None:
        yield f"{name}: only the {'second' if first is None else 'first'} has this table"
        return
    left, right = first(), second()
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            yield f"{name} {one[0] if one else ''}: only in the first"
            one = next(left, None)
        elif one is None or other[0] < one[0]:
            yield f"{name} {other[0]}: only in the second"
            other = next(right, None)
        else:
            if not _is_same(one[1], other[1]):
                yield from where(_read(one[1]), _read(other[1]), f"{name} {one[0]}")
            one, other = next(left, None), next(right, None)


def _is_same(first: Any, second: Any) -> bool:  # noqa: ANN401 - as below
    """Whether both are the same for sure: to look at all fields of all objects takes far longer."""
    if isinstance(first, ObjectText) and isinstance(second, ObjectText):
        return first == second
    return repr(_read(first)) == repr(_read(second))


def _read(record: Any) -> Any:  # noqa: ANN401 - as below
    return json.loads(record) if isinstance(record, ObjectText) else record


def where(first: Any, second: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - JSON of any kind
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key not in first or key not in second:
                yield f"{path}.{key}: only in the {'second' if key not in first else 'first'}"
            else:
                yield from where(first[key], second[key], f"{path}.{key}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from where(one, other, f"{path}[{place}]")
    elif first != second or type(first) is not type(second):
        yield f"{path}: {json.dumps(first)} and {json.dumps(second)}"
