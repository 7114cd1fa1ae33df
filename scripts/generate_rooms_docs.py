"""Writes what stands inside of each room into `docs/architecture.md`, from the floors that `tests/house` declares.

What stands in the document outside of the two marks is written by hand, and left alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.inner_floors import INNER_FLOORS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "ledgerd"
DOCUMENT = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- rooms: generated from their floors by `make docs`; a test fails when they are out of date -->"
END = "<!-- end of the rooms -->"


def purpose_of(room: str, name: str) -> str:
    """The first sentence on a module or a folder."""
    path = PACKAGE.joinpath(*room.split("."), name)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = " ".join((ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split())
    return (
        re.split(r"(?<=[.;])\s", re.sub(r" \(spec [^)]*\)", "", text), maxsplit=1)[0].rstrip(".;").replace("|", r"\|")
    )


def rows() -> Iterator[str]:
    """A table for each room, from its top."""
    for room, floors in sorted(INNER_FLOORS.items()):
        yield f"#### `{room}`"
        yield ""
        yield "| floor | name | what it is |"
        yield "|---|---|---|"
        for height, names in reversed([*enumerate(floors, 1)]):
            for name in sorted(names):
                folder = PACKAGE.joinpath(*room.split("."), name).is_dir()
                yield f"| {height} | `{name}{'/' if folder else ''}` | {purpose_of(room, name)} |"
        yield ""


def with_rooms(document: str) -> str:
    """The document with the rooms of today between its marks."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "".join((before, BEGIN, "\n\n", *(f"{row}\n" for row in rows()), END, after))


def main() -> int:
    """Write the document."""
    DOCUMENT.write_text(with_rooms(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
