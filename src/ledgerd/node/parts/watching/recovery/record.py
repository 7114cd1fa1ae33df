"""The incidents of the last days, kept in a file: a restart does not make a node forget which steps it has taken."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

from ledgerd.node.parts.watching.recovery.rule import Incident

log = logging.getLogger(__name__)

FILE = "wedges.json"


def read_incidents(folder: Path) -> list[Incident]:
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Incident])
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as problem:
        log.warning("%(file)s cannot be read, and is begun again: %(reason)s", {"file": path, "reason": problem})
        return []


def write_incidents(folder: Path, incidents: list[Incident]) -> None:
    """Write them, durably: before a step is taken."""
    path = folder / FILE
    fresh = path.with_name(f"{FILE}.new")
    with fresh.open("wb") as file:
        file.write(msgspec.json.encode(incidents))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
