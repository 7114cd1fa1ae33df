"""Which of the snapshots in a directory is the newest (spec 06, section 8.1)."""

from __future__ import annotations

import re
from pathlib import Path

NAMED = re.compile(r".*?snapshot-block-([0-9]{1,10})")
SUFFIXES = frozenset({".vizjson", ".json"})


def block_of(path: Path) -> int:
    """The block that the name of a snapshot tells; 0 where it tells none."""
    found = NAMED.match(path.name) if path.suffix in SUFFIXES else None
    return 0 if found is None else int(found[1])


def newest_snapshot(directory: Path, *, below: int | None = None) -> Path | None:
    """The snapshot of the highest block, or of the highest one below a number."""
    try:
        files = sorted(path for path in directory.iterdir() if path.is_file())
    except OSError:
        return None
    numbered = [(block_of(path), path) for path in files]
    fitting = [each for each in numbered if each[0] > 0 and (below is None or each[0] < below)]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None
