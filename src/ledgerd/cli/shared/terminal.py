"""What commands print for whoever started them: lines, how far they are, the room on the disk; how they are stopped."""

from __future__ import annotations

import logging
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ledgerd.basics.printable import printable
from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.progress import ProgressLine, shown

log = logging.getLogger(__name__)

LOWEST_PRIORITY = 19
MEGABYTE = 1 << 20
SPARE_BYTES = 256 << 20
"""Bytes that stay free on the disk."""

Advance = Callable[[int], None]


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


@contextmanager
def progress(work: str, total: int, *, done: int = 0, unit: str = "block") -> Iterator[Advance]:
    line = ProgressLine(work, done, time.monotonic(), unit)

    def advance(height: int) -> None:
        step = line.at(height, total, time.monotonic())
        if step is not None:
            log.info("%s", step.text, extra=shown(step))

    with set_up_for_person(log):
        yield advance
