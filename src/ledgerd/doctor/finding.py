"""A finding: what is wrong, why that matters, and what to do. Keys never stand in one."""

from __future__ import annotations

from enum import StrEnum
from functools import partial

import msgspec

from ledgerd.basics.printable import printable
from ledgerd.protocol.secrets import without_keys

PAGE = "docs/doctor.md"


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """The node does not work, will stop working, or makes no blocks."""
    WARNING = "warning"
    """The node works, and the operator should see to it."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    name: str
    """The name, always the same for the same fault; also the anchor in docs/doctor.md."""
    severity: Severity
    what: str
    why: str
    do: str
    page: str

    def __str__(self) -> str:
        return (
            f"{self.severity.value}: {self.name}: {self.what}\n  why: {self.why}\n  do:  {self.do}\n  see: {self.page}"
        )

    @property
    def line(self) -> str:
        return f"{self.name}: {self.what}: {self.do} ({self.page})"


def _finding(severity: Severity, name: str, *, what: str, why: str, do: str) -> Finding:
    # What is found may quote a peer, a signer, or whatever answers on a port.
    what, why, do = (printable(without_keys(each)) for each in (what, why, do))
    return Finding(name, severity, what, why, do, f"{PAGE}#{name}")


error, warning = partial(_finding, Severity.ERROR), partial(_finding, Severity.WARNING)
