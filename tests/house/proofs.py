"""How the house tests read `docs/spec/PROOFS.md`: a row for each section of the law, with what it is proven by."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PAGE = Path("docs/spec/PROOFS.md")
PARTS = ("08", "09", "10")
FACTS, VECTORS, TEXT, NONE = "facts", "vectors", "text", "no rule"
OTHER_RECORDS = ("states", "probes", "answers")
"""What a row may name beside operations."""


class Proof(NamedTuple):
    """A row."""

    part: str
    section: str
    kinds: tuple[str, ...]
    recorded: tuple[str, ...]
    tests: tuple[str, ...]


def read_proofs(root: Path) -> list[Proof]:
    """The rows, in their order."""
    found, part = list[Proof](), ""
    for line in (root / PAGE).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part = line.removeprefix("## Part ") if line.startswith("## Part ") else ""
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if part and line.startswith("| ") and cells[0] != "section":
            section, _, kinds, recorded, tests = cells
            found.append(Proof(part, section, _listed(kinds), _listed(recorded), _listed(tests.replace("`", ""))))
    return found


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in cell.split(",") if each.strip())


def is_record(name: str) -> bool:
    """Whether a name is not that of an operation."""
    return name.split(maxsplit=1)[0] in OTHER_RECORDS


def counted_operations(proofs: list[Proof]) -> list[str]:
    """The operations that rows name."""
    return sorted({name for proof in proofs for name in proof.recorded if not is_record(name)})
