"""How far commands are that process many blocks or records: on standard error, as `supervision.progress` says it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

Advance = Callable[[int], None]


@contextmanager
def progress(work: str, total: int, *, done: int = 0, unit: str = "block") -> Iterator[Advance]:
    """Show how far the work is within the `with` block: call the result with each height."""
    from ledgerd.node.config.logging.setup import set_up_for_person  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.supervision.progress import ProgressLine, shown  # noqa: PLC0415

    line = ProgressLine(work, done, time.monotonic(), unit)

    def advance(height: int) -> None:
        step = line.at(height, total, time.monotonic())
        if step is not None:
            log.info("%s", step.text, extra=shown(step))

    with set_up_for_person(log):
        yield advance
