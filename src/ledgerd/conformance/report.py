"""What a run of the kit found: a row for each check, as a table or as JSON, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from importlib.metadata import PackageNotFoundError, version

from ledgerd.basics.printable import printable

DISTRIBUTION = "ledgerd-conformance"
MOST_SHOWN = 5
"""Differences of a check that are shown; all are counted."""
LONGEST_SHOWN = 300

CONFORMS, DIFFERS, NOTHING_COMPARED = 0, 1, 3


class CheckVerdict(Enum):
    """The result of a check."""

    EQUAL = "pass"
    DIFFERENT = "fail"
    NOT_OFFERED = "not offered"


class Check:
    """A row: one kind of question about one subject."""

    def __init__(self, subject: str, name: str) -> None:
        self.subject = subject
        self.name = name
        self.asked = 0
        self.equal = 0
        self.different = 0
        self.differences: list[str] = []
        self.notes: dict[str, None] = {}

    def passed(self) -> None:
        self.asked += 1
        self.equal += 1

    def failed(self, difference: str) -> None:
        self.asked += 1
        self.different += 1
        if len(self.differences) < MOST_SHOWN:
            self.differences.append(printable(difference)[:LONGEST_SHOWN])

    def not_offered(self, note: str) -> None:
        """Questions without an answer count for nothing; the note says of what there is none."""
        self.asked += 1
        if len(self.notes) < MOST_SHOWN:
            self.notes[printable(note)[:LONGEST_SHOWN]] = None

    @property
    def verdict(self) -> CheckVerdict:
        if self.different:
            return CheckVerdict.DIFFERENT
        return CheckVerdict.EQUAL if self.equal else CheckVerdict.NOT_OFFERED

    def as_json(self) -> dict[str, object]:
        return {
            "subject": self.subject,
            "check": self.name,
            "verdict": self.verdict.value,
            "asked": self.asked,
            "equal": self.equal,
            "different": self.different,
            "differences": self.differences,
            "notes": list(self.notes),
        }


class ConformanceReport:
    """All checks of a run, in the order in which they were begun."""

    def __init__(self, about: str) -> None:
        self.about = about
        self._checks: dict[tuple[str, str], Check] = {}

    def check(self, subject: str, name: str) -> Check:
        """The row of that name; it is begun where there is none yet."""
        return self._checks.setdefault((subject, name), Check(subject, name))

    @property
    def exit_code(self) -> int:
        verdicts = {each.verdict for each in self._checks.values()}
        if CheckVerdict.DIFFERENT in verdicts:
            return DIFFERS
        return CONFORMS if CheckVerdict.EQUAL in verdicts else NOTHING_COMPARED

    def as_json(self) -> str:
        """One JSON object."""
        checks = [each.as_json() for each in self._checks.values()]
        document = {"kit": own_version(), "about": self.about, "exit_code": self.exit_code, "checks": checks}
        return json.dumps(document, ensure_ascii=False, indent=1)

    def as_text(self) -> str:
        """The table, then what is different."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"ledgerd-conformance {own_version()}: {printable(self.about)}"
        checks = list(self._checks.values())
        rows = [("subject", "check", "verdict", "asked", "equal", "different")]
        rows += [
            (each.subject, each.name, each.verdict.value, f"{each.asked:,}", f"{each.equal:,}", f"{each.different:,}")
            for each in checks
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            left = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
            right = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
            yield "  ".join(left + right).rstrip()
        for each in checks:
            for difference in each.differences:
                yield f"{each.subject}, {each.name}: {difference}"
            for note in each.notes:
                yield f"{each.subject}, {each.name}: not offered: {note}"


def own_version() -> str:
    """The version of the kit, which is that of the specification; sources of no distribution have none."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "of a checkout"
