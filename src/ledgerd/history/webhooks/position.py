"""How far a receiver is, in a small file that survives a kill; the history itself is the queue."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from ledgerd.basics.durable import write_whole
from ledgerd.basics.formats import FileFormat
from ledgerd.history.webhooks.settings import Webhook

FORMAT = 1


class HookPosition(msgspec.Struct, frozen=True):
    """The progress of a receiver: what it has acknowledged, and what it may have received without that."""

    next_block: int = 0
    """The first block of which it has not acknowledged everything; 0 before the first."""
    events: int = 0
    """The number of selected operations of that block that it has acknowledged."""
    marks: dict[int, str] = {}
    """Marks by which the examined reversible blocks are recognised."""
    sent: tuple[int, ...] = ()
    """Blocks that can be undone of which something was sent, acknowledged or not."""
    failures: int = 0
    """Attempts in a row that have failed."""
    behind: int = 0
    ended: str = ""
    format: int = FORMAT


def position_file(folder: Path, hook: Webhook) -> Path:
    """The file of a hook: another URL or filter is another hook."""
    identity = msgspec.json.encode([hook.url, hook.types, hook.accounts, hook.direction, hook.reversible])
    return folder / f"{hashlib.sha256(identity).hexdigest()[:16]}.json"


def read_position(file: Path) -> HookPosition:
    """Read the position of a webhook. One that a newer version has written stops the webhook."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        return HookPosition()
    newer = msgspec.json.decode(raw, type=FileFormat).newer_than(FORMAT, f"the position of the webhook in {file}")
    return HookPosition(ended=newer) if newer else msgspec.json.decode(raw, type=HookPosition)


def write_position(file: Path, position: HookPosition) -> None:
    """Replace the position in one step, on the disk when this returns."""
    write_whole(file, msgspec.json.encode(position))
