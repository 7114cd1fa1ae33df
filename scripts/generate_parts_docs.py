"""Writes the parts of a node into `docs/architecture.md`, from the table in `src/ledgerd/node/part_table.py`.

What stands in the document outside of the two marks is written by hand, and left alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path

from ledgerd.node.part_table import PARTS, SNAPSHOT_ONLY, PartSpec
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Ending

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- parts: generated from the table of parts by `make docs`; a test fails when they are out of date -->"
END = "<!-- end of the parts -->"

NAMES = {spec.kind: spec.name for spec in PARTS}


def purpose_of(kind: type[Part]) -> str:
    """The first sentence on a part."""
    return re.split(r"(?<=[.;:])\s", " ".join((getdoc(kind) or "").split()), maxsplit=1)[0].rstrip(".;:")


def runs(spec: PartSpec) -> str:
    """Where a part runs."""
    return (
        f"{spec.when.text}, also for `create-snapshot`"
        if spec.for_snapshot and spec.when != SNAPSHOT_ONLY
        else spec.when.text
    )


def end_of(spec: PartSpec) -> str:
    """What follows when something of a part ends."""
    if spec.on_end is None:
        return "nothing runs after the start"
    words = "the node ends" if spec.on_end is Ending.ENDS_PROGRAM else "it is started again"
    words += "".join(f" ({name}: started again)" for name in spec.restarted)
    return f"{words}; `/ready` fails while it is down" if spec.makes_unready else words


def rows() -> Iterator[str]:
    """The table, in the order of the start."""
    yield "| part | what it is | runs | needs | when something of it ends |"
    yield "|---|---|---|---|---|"
    for spec in PARTS:
        needs = ", ".join(f"`{NAMES[kind]}`" for kind in spec.needs)
        yield f"| `{spec.name}` | {purpose_of(spec.kind)} | {runs(spec)} | {needs} | {end_of(spec)} |"


def with_parts(document: str) -> str:
    """The document with the parts of today between its marks."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "".join((before, BEGIN, "\n\n", *(f"{row}\n" for row in rows()), "\n", END, after))


def main() -> int:
    """Write the document."""
    DOCUMENT.write_text(with_parts(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
