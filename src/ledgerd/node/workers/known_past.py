"""Notices that a worker knows more of the past than before: answers that it keeps until the next block are then old.

Files are added to the archive, and a history takes the place of another, while no block comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

LOOK_SECONDS = 0.25


async def tell_changes(archive: Path, history: Path | None, tell: Callable[[], None]) -> None:
    """Call a function after each change, shortly."""
    known = _marks(archive, history)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = _marks(archive, history)
        if now != known:
            known = now
            tell()


def _marks(archive: Path, history: Path | None) -> tuple[int, ...]:
    """When files were last added to a folder, and which file another is; a commit to that is no change."""
    return (*_facts(archive, ("st_ino", "st_mtime_ns")), *_facts(history, ("st_ino",)))


def _facts(path: Path | None, names: Iterable[str]) -> list[int]:
    if path is None:
        return []
    try:
        found = path.stat()
    except OSError:
        return [0]
    return [getattr(found, name) for name in names]
