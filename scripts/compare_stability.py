"""Compares what is promised today with the list of the last release (docs/stability.md), and prints what has broken.

A break is silent when the changelog does not name it, and the last release had not listed it as deprecated.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import Version

from scripts.generate_stability import FOLDER, ROOT, Stable, stable
from scripts.stability_python import Entry

CHANGELOG = ROOT / "CHANGELOG.md"

RELEASED = re.compile(r"\d+\.\d+\.\d+")
HEADING = re.compile(r"^## \[([^\]]+)\]", re.MULTILINE)
SECTION = re.compile(r"^### (\w+)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")

MAY_GROW = frozenset({"bases", "fields", "values"})
"""Of these, what is new breaks nothing."""
ARGUMENTS = frozenset({"parameters", "keywords"})
OPTIONAL = " = "
"""Stands in an argument that may be left out."""
NEWS = frozenset({"deprecated", "older_name_of"})
"""Said of a name that still works as before."""


class Break(NamedTuple):
    """What worked with the last release and does not any more."""

    kind: str
    name: str
    what: str

    @property
    def is_removal(self) -> bool:
        return not self.what

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}: {self.what or 'is gone'}"


def last_release(folder: Path = FOLDER) -> str:
    """The version of the newest list of a release; empty before the first."""
    return max((each.stem for each in folder.glob("*.json") if RELEASED.fullmatch(each.stem)), key=Version, default="")


def read_list(version: str, folder: Path = FOLDER) -> Stable:
    found: Stable = json.loads((folder / f"{version}.json").read_text(encoding="utf-8"))
    return found


def breaks(before: Stable, now: Stable) -> Iterator[Break]:
    """Everything that was promised and is gone or another."""
    for kind, entries in before.items():
        today = now.get(kind, {})
        for name, entry in entries.items():
            if name not in today:
                yield Break(kind, name, "")
            else:
                yield from (Break(kind, name, what) for what in _changes(entry, today[name]))


def _changes(before: Entry, now: Entry) -> Iterator[str]:
    for key, old in before.items():
        new = now.get(key)
        if key in NEWS or old == new:
            continue
        if key in ARGUMENTS:
            yield from _changes_of_arguments(old, new or [], in_order=key == "parameters")
        elif key in MAY_GROW:
            yield from _lost(old, new or type(old)())
        else:
            yield f"{key} was {json.dumps(old)} and is {json.dumps(new)}"


def _changes_of_arguments(before: list[str], now: list[str], *, in_order: bool) -> Iterator[str]:
    """Arguments given as before still have to fit: in their places, by their names, and without others beside them."""
    if in_order and now[: len(before)] != before:
        yield f"its parameters were {json.dumps(before)} and are {json.dumps(now)}"
        return
    yield from (f"does not take {each} any more" for each in before if each not in now)
    yield from (f"asks for {each}" for each in now if each not in before and OPTIONAL not in each and "*" not in each)


def _lost(before: Any, now: Any) -> Iterator[str]:  # noqa: ANN401 - of JSON: texts, or texts by name
    if isinstance(before, Mapping):
        before = [f"{name}: {of}" for name, of in before.items()]
        now = [f"{name}: {of}" for name, of in now.items()]
    yield from (f"does not have {each} any more" for each in before if each not in now)


def announced(changelog: str, since: str) -> dict[str, set[str]]:
    """What stands in code under each heading ("Removed" and so on) above the heading of a release."""
    newest = next((each.start() for each in HEADING.finditer(changelog) if each[1] == since), len(changelog))
    parts = SECTION.split(changelog[:newest])
    found: dict[str, set[str]] = {}
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(heading, set()).update(each.removeprefix("--") for each in CODE.findall(text))
    return found


def silent(found: Iterable[Break], before: Stable, changelog: str, since: str) -> list[Break]:
    """The breaks that nobody was told of."""
    told = announced(changelog, since)
    removed, changed = told.get("Removed", set()), told.get("Changed", set())
    return [
        each
        for each in found
        if each.name not in (removed if each.is_removal else changed | removed)
        and not (each.is_removal and "deprecated" in before[each.kind][each.name])
    ]


def silent_breaks() -> list[Break]:
    """Those of today."""
    since = last_release()
    if not since:
        return []
    before = read_list(since)
    return silent(breaks(before, stable()), before, CHANGELOG.read_text(encoding="utf-8"), since)


def main() -> int:
    """Print them."""
    found = silent_breaks()
    print(f"since {last_release() or 'no release yet'}: {len(found)} silent breaks")
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
