"""How far commands are that process many blocks or records: on standard error, as `supervision.progress` says it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.supervision.progress import ProgressLine, shown

log = logging.getLogger(__name__)

Advance = Callable[[int], None]


@contextmanager
def progress(work: str, total: int, *, done: int = 0, unit: str = "block") -> Iterator[Advance]:
    line = ProgressLine(work, done, time.monotonic(), unit)

    def advance(height: int) -> None:
        step = line.at(height, total, time.monotonic())
        if step is not None:
            log.info("%s", step.text, extra=shown(step))

    with set_up_for_person(log):
        yield advance
