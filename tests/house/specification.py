"""How the house tests read the specification: its parts, their numbered headings, and the entries under each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

NUMBER = r"\d+(?:\.\d+)*"
HEADING = re.compile(rf"#{{2,4}} ({NUMBER})\.?(?: - ({NUMBER}))?(?=\s|$)(.*)")
UNNUMBERED = re.compile(r"## (?=\D)(.*)")
ENTRY = re.compile(r"(?:^ *|· )(\w+)\. |^\| *([\w.]+) *\|")
"""`3. ` at the beginning of a line or behind a dot in the middle, and the first column of a table."""


@dataclass
class Part:
    """One part: its sections by number with the entries of lists and tables in each, and its open questions."""

    sections: dict[str, set[str]] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)


def read_part(text: str) -> Part:
    part, entries, is_code = Part(), set[str](), False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if is_code:
            continue
        numbered, unnumbered = HEADING.match(line), UNNUMBERED.match(line)
        if numbered or unnumbered:
            entries = set()
        if numbered:
            part.sections.update(dict.fromkeys(through(numbered[1], numbered[2] or numbered[1]), entries))
        if heading := numbered or unnumbered:
            part.questions = entries if "question" in heading[heading.lastindex or 0] else part.questions
        entries.update(entry[1] or entry[2] for entry in ENTRY.finditer(line))
    return part


def read_specification(folder: Path) -> dict[str, Part]:
    """The parts by their two digits."""
    files = sorted(folder.glob("[01][0-9]-*.md"))
    return {path.name[:2]: read_part(path.read_text(encoding="utf-8")) for path in files}


def through(first: str, last: str) -> list[str]:
    """`9.3` to `9.5`: all three. Nothing where the two are no range."""
    stem, _, begin = first.rpartition(".")
    other, _, end = last.rpartition(".")
    if stem != other or not (begin.isdecimal() and end.isdecimal()):
        return [first, last] if stem == other and first < last else []
    return [f"{stem}.{number}" if stem else str(number) for number in range(int(begin), int(end) + 1)]
