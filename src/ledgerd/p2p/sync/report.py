"""The progress of a sync as a log line: height, blocks a second, and the remaining time."""

from __future__ import annotations

SECONDS_A_LINE = 5
WORTH_A_LINE = 200
"""A sync of fewer blocks is not logged, since it ends at once."""


class SyncReport:
    """Remembers the last line, to tell what has happened since."""

    def __init__(self) -> None:
        self._last: tuple[float, int] | None = None

    def line(self, now: float, head: int, target: int, peers: int) -> str | None:
        """The next line, when one is due. The target is the highest block of a trusted peer."""
        if target - head < WORTH_A_LINE and self._last is None:
            return None
        if self._last is None:
            self._last = now, head
            return None
        since, height = self._last
        if now - since < SECONDS_A_LINE:
            return None
        self._last = (now, head) if head < target else None
        target = max(target, head)
        if head <= height:
            return f"syncing: block {head:,} of {target:,}, waiting for blocks from {many(peers, 'peer')}"
        rate = (head - height) / (now - since)
        left = duration(max(0, target - head) / rate)
        speed = f"{rate:,.0f} blocks/s, {left} left, from {many(peers, 'peer')}"
        return f"syncing: block {head:,} of {target:,} ({100 * head // target} %), {speed}"


def many(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def duration(seconds: float) -> str:
    """The two largest units of a time."""
    whole = round(seconds)
    for size, unit, next_size, next_unit in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // next_size} {next_unit}"
    return f"{whole} s"
