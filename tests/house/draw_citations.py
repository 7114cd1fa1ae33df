"""Draws citations to read against what they cite: `python -m tests.house.draw_citations SEED [HOW_MANY]`.

The house test sees that a section is there; whether it says what the code says it does is for a reader.
"""

from __future__ import annotations

import random
import sys

from tests.house.citations import Citation
from tests.house.source_tree import ROOT
from tests.house.specification import HEADING
from tests.house.test_citations import SPECIFICATION, all_citations

AROUND = 3
"""Lines of the citing file shown before and after."""


def section_text(part: str, section: str) -> str:
    """A section from its heading to the next numbered one; of a whole part, or an open question, the first lines."""
    lines = next(SPECIFICATION.glob(f"{part}-*.md")).read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if HEADING.match(line)]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines[begin].split()[1].rstrip(".") == section:
            return "\n".join(lines[begin:end]).rstrip()
    return "\n".join(lines[:AROUND])


def citing_text(citation: Citation) -> str:
    name, _, number = citation.place.rpartition(":")
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[max(0, int(number) - 1 - AROUND) : int(number) + AROUND])


def main(seed: int, how_many: int) -> None:
    citations, _ = all_citations(ROOT)
    drawn = random.Random(seed).sample(citations, how_many)  # noqa: S311 - to be repeated
    write = sys.stdout.write
    write(f"seed {seed}: {how_many} of {len(citations)}\n")
    for citation in sorted(drawn, key=str):
        write(f"\n=== {citation}\n{citing_text(citation)}\n--- {section_text(citation.part, citation.section)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40)
