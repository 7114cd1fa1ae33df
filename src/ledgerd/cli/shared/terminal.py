"""What commands print for whoever started them, the room on the disk that they need, and how they are stopped."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ledgerd.basics.printable import printable
from ledgerd.protocol.errors import OperatorError

LOWEST_PRIORITY = 19
MEGABYTE = 1 << 20
SPARE_BYTES = 256 << 20
"""Bytes that stay free on the disk."""


def report(text: str, out: TextIO | None = None) -> None:
    """Print a line at once; names of files, and what nodes answer, are another's."""
    out = out or sys.stdout
    out.write(f"{printable(text)}\n")
    out.flush()


def require_room(needed: int, folder: Path, words: str) -> None:
    """Say how much is needed, and refuse to begin where it is not there."""
    free = shutil.disk_usage(folder).free
    text = f"about {-(-needed // MEGABYTE)} MB are {words}, and {free // MEGABYTE} MB are free"
    if needed + SPARE_BYTES > free:
        raise OperatorError(f"{text}: make room on the disk of {folder}")
    report(text)


@contextmanager
def until_asked_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, for a clean stop; further signals have no effect."""
    stopping = threading.Event()
    before = {each: signal.signal(each, lambda *_: stopping.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
