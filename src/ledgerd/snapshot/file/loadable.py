"""Whether a reference node can load a snapshot (spec 06, section 12.2): its parser drops the backslash of an escaped
control character, and counts brackets inside strings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

MOST_OPEN = 100
"""Open brackets of one kind in a snapshot that reference nodes read."""
MOST_LISTED = 20
"""Records that are named in the report."""

_LOSSY = re.compile(r"(?<!\\)(?:\\\\)*\\[bfu]")
_PAIRS = (("{", "}"), ("[", "]"))


class Obstacle(NamedTuple):
    """A record that keeps reference nodes from loading the snapshot."""

    section: str
    id: int
    reason: str

    def __str__(self) -> str:
        return f"{self.section} {self.id}: {self.reason}"


class Loadability:
    """Checks each text on its way into the file."""

    def __init__(self) -> None:
        self.obstacles: list[Obstacle] = []
        self.count = 0
        self._open = [1, 0]
        """The open braces and brackets before the next text; the outermost brace counts."""

    def frame(self, text: str) -> None:
        for place, (opening, closing) in enumerate(_PAIRS):
            self._open[place] += text.count(opening) - text.count(closing)

    def records(self, section: str, found: Sequence[tuple[int, str]], text: str) -> None:
        """Check records together, where no bracket is in them but the brace at both ends of each, and no escape."""
        if (
            text.count("{") == text.count("}") == len(found)
            and "[" not in text
            and "]" not in text
            and "\\" not in text
            and self._open[0] + 1 < MOST_OPEN
            and self._open[1] < MOST_OPEN
        ):
            return
        for object_id, each in found:
            self.record(section, object_id, each)

    def record(self, section: str, object_id: int, text: str) -> None:
        if "\\" in text and _LOSSY.search(text):
            self._add(section, object_id, "it has a control character, whose escape they cannot read")
        for place, (opening, closing) in enumerate(_PAIRS):
            opened, closed = text.count(opening), text.count(closing)
            before = self._open[place]
            self._open[place] += opened - closed
            if before + opened >= MOST_OPEN and before + _deepest(text, opening, closing) >= MOST_OPEN:
                self._add(section, object_id, f"with it, {MOST_OPEN} brackets {opening} are open, which they refuse")

    def _add(self, section: str, object_id: int, reason: str) -> None:
        self.count += 1
        if len(self.obstacles) < MOST_LISTED:
            self.obstacles.append(Obstacle(section, object_id, reason))


def _deepest(text: str, opening: str, closing: str) -> int:
    deepest = depth = 0
    for found in re.finditer(f"[{re.escape(opening + closing)}]", text):
        depth += 1 if found[0] == opening else -1
        deepest = max(deepest, depth)
    return deepest
