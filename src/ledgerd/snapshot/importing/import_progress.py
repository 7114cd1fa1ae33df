"""How far the import of a snapshot, or the check of its state, is, in the log."""

from __future__ import annotations

import logging
import time

from ledgerd.supervision.progress import ProgressLine, shown

log = logging.getLogger(__name__)


class ImportProgress:
    """The records that one import has read, or the checks that were made, of those there are."""

    def __init__(self, work: str = "importing", unit: str = "record") -> None:
        self._line = ProgressLine(work, 0, time.monotonic(), unit)

    def at(self, done: int, size: int) -> None:
        step = self._line.at(min(done, size), size, time.monotonic())
        if step is not None:
            log.info("%s", step.text, extra=shown(step))
