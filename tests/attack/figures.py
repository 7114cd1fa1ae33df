"""What was measured of one kind, the bounds that must hold, and the table of all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

MAIN_MB, WORKER_MB, LOG_MB_AN_HOUR = 400.0, 300.0, 10.0
APPLY_SECONDS, ANSWER_SECONDS = 0.300, 1.0
HONEST_SHARE = 0.95


class Figures(msgspec.Struct, kw_only=True):
    """Of one run."""

    kind: str
    seconds: float
    made: int
    """Own slots that have a block."""
    missed: int
    apply_p99: float
    apply_max: float
    main_mb: float
    worker_mb: float
    workers: int
    """Worker processes that were seen: more than were asked for when some were restarted."""
    log_mb_an_hour: float
    sent: int
    accepted: int
    """Of the honest transactions."""
    quiet_share: float = 1.0
    """The same share without an attack."""
    health: float
    broadcast: float
    """The slowest answers, in seconds."""
    refused: dict[str, int] = {}
    """What honest clients were told in place of an answer, and how often."""
    own_block: float
    peer_block: float
    """The latest blocks of the node and of its honest peer, from their slot to an honest peer of the node."""
    turn: float = 0.0
    """The longest turn of the chain's thread, in seconds of the processor."""
    turn_name: str = ""
    """What was done in it."""
    lost: int
    """Connections of honest peers that ended."""
    disk_mb: float
    attackers_share: float
    """Of all processors."""
    hostile_mb: float
    """Bytes that attackers have sent."""
    rounds: int
    ended: str = ""
    """Why the node has ended, if it has."""
    attack_faults: str = ""
    """Why attackers have ended early."""

    @property
    def share(self) -> float:
        """How much of the honest transactions was accepted."""
        return self.accepted / self.sent if self.sent else 1.0

    def broken(self) -> list[str]:
        """The bounds that do not hold."""
        held = {
            f"the node has ended: {self.ended}": not self.ended,
            f"attackers have failed: {self.attack_faults}": not self.attack_faults,
            f"{self.missed} own slots missed": self.missed == 0,
            f"p99 of block application {self.apply_p99 * 1000:.0f} ms": self.apply_p99 < APPLY_SECONDS,
            f"main process {self.main_mb:.0f} MB": self.main_mb < MAIN_MB,
            f"a worker {self.worker_mb:.0f} MB": self.worker_mb < WORKER_MB,
            f"log {self.log_mb_an_hour:.1f} MB/h": self.log_mb_an_hour < LOG_MB_AN_HOUR,
            f"honest transactions {self.share:.1%} of {self.quiet_share:.1%}": self.share
            >= HONEST_SHARE * self.quiet_share,
            f"/health after {self.health:.2f} s": self.health < ANSWER_SECONDS,
            f"a broadcast after {self.broadcast:.2f} s": self.broadcast < ANSWER_SECONDS,
            f"an honest peer's block after {self.peer_block:.2f} s": self.peer_block < ANSWER_SECONDS,
        }
        return [fault for fault, holds in held.items() if not holds]


Column = tuple[str, str]

COLUMNS: tuple[Column, ...] = (
    ("kind", "{0.kind}"),
    ("made", "{0.made}"),
    ("missed", "{0.missed}"),
    ("p99 ms", "{1:.0f}"),
    ("max ms", "{2:.0f}"),
    ("turn ms", "{4:.0f}"),
    ("main MB", "{0.main_mb:.0f}"),
    ("worker MB", "{0.worker_mb:.0f}"),
    ("log MB/h", "{0.log_mb_an_hour:.1f}"),
    ("honest", "{0.accepted}/{0.sent}"),
    ("health s", "{0.health:.2f}"),
    ("broadcast s", "{0.broadcast:.2f}"),
    ("peer block s", "{0.peer_block:.2f}"),
    ("disk MB", "{0.disk_mb:.1f}"),
    ("attack CPU", "{0.attackers_share:.0%}"),
    ("sent MB", "{0.hostile_mb:.1f}"),
    ("", "{3}"),
)


def table(figures: Sequence[Figures]) -> str:
    """A line for each kind, aligned, with the bounds that it breaks after it."""
    rows = [tuple(name for name, _ in COLUMNS), *(_row(each) for each in figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    return "".join(_aligned(row, widths) for row in rows)


def _row(figures: Figures) -> tuple[str, ...]:
    broken = "; ".join(figures.broken()) or "holds"
    words = (figures, figures.apply_p99 * 1000, figures.apply_max * 1000, broken, figures.turn * 1000)
    return tuple(form.format(*words) for _, form in COLUMNS)


def _aligned(row: Iterable[str], widths: Sequence[int]) -> str:
    words = list(row)
    first, *middle = (
        word.ljust(width) if place == 0 else word.rjust(width)
        for place, (word, width) in enumerate(zip(words[:-1], widths[:-1], strict=True))
    )
    return "  ".join([first, *middle, words[-1]]).rstrip() + "\n"


def quantile(values: Sequence[float], part: float) -> float:
    """The value that so large a part of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0
