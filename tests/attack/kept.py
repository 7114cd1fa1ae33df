"""What runs of `scripts/attack` have measured, kept so that a stopped command goes on, and as rows for a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from tests.attack.figures import Figures


class Terms(msgspec.Struct, frozen=True):
    """How it was measured: figures of other terms are not mixed."""

    commit: str
    minutes: float
    peers: int
    clients: int
    transactions: int
    max_connections: str


class Record(msgspec.Struct):
    """The file."""

    terms: Terms
    runs: dict[str, Figures] = {}
    """By their names."""


class Kept:
    """The figures of one set of terms, in a file; those of others are dropped at the first new figure."""

    def __init__(self, path: Path, terms: Terms, *, is_fresh: bool = False) -> None:
        self._path = path
        self._record = Record(terms)
        if path.exists() and not is_fresh:
            found = msgspec.json.decode(path.read_bytes(), type=Record)
            if found.terms == terms:
                self._record = found

    @property
    def runs(self) -> Mapping[str, Figures]:
        """What was measured so far."""
        return self._record.runs

    def left(self, names: Iterable[str]) -> list[str]:
        """Those that are still to be measured."""
        return [name for name in names if name not in self._record.runs]

    def keep(self, figures: Figures) -> None:
        """Write a new figure, whole or not at all."""
        self._record.runs[figures.kind] = figures
        fresh = self._path.with_name(f"{self._path.name}.new")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(self._record)) + b"\n")
        fresh.replace(self._path)


def read_figures(path: Path) -> dict[str, Figures]:
    """Those that `--json` has written, or that were kept, by their names."""
    data = path.read_bytes()
    if data.lstrip().startswith(b"["):
        return {each.kind: each for each in msgspec.json.decode(data, type=list[Figures])}
    return msgspec.json.decode(data, type=Record).runs


COLUMNS = (
    ("slots", "{0.made}"),
    ("missed", "{0.missed}"),
    ("p99 ms", "{1:.0f}"),
    ("main MB", "{0.main_mb:.0f}"),
    ("worker MB", "{0.worker_mb:.0f}"),
    ("log MB/h", "{0.log_mb_an_hour:.1f}"),
    ("honest", "{2:.1%}"),
    ("`/health` s", "{0.health:.2f}"),
    ("broadcast s", "{0.broadcast:.2f}"),
    ("peer's block s", "{0.peer_block:.2f}"),
)


def rows(figures: Sequence[Figures], before: Mapping[str, Figures] | None = None) -> str:
    """A table of Markdown with a row for each kind; a cell shows the figure of before too, where that was another."""
    lines = [_line("kind", *(name for name, _ in COLUMNS)), "|---" * (1 + len(COLUMNS)) + "|"]
    for now in figures:
        then = (before or {}).get(now.kind)
        lines.append(_line(f"`{now.kind}`", *(_cell(form, now, then) for _, form in COLUMNS)))
    return "\n".join(lines) + "\n"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(form: str, now: Figures, then: Figures | None) -> str:
    new = _text(form, now)
    old = new if then is None else _text(form, then)
    return new if old == new else f"{old} → {new}"


def _text(form: str, figures: Figures) -> str:
    return form.format(figures, figures.apply_p99 * 1000, figures.share)
