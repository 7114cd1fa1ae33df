"""How fast whoever is asked for blocks must send them: one who drips them would never come to an end."""

from __future__ import annotations

import time
from collections.abc import Callable

from ledgerd.archive.errors import SourceFault

SPAN_SECONDS = 60.0
LEAST_BYTES = 65_536
"""What a web server sends in that time."""
LEAST_BLOCKS = 60
"""What a peer sends in that time."""


class SourcePace:
    """Counts what one answer brings, a span after the other."""

    def __init__(self, source: str, least: int, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._least = least
        self._unit = unit
        self._counted = 0
        self._clock = clock
        self._since = clock()

    def count(self, size: int) -> None:
        """So much has come. `SourceFault`: it was too little in the last span."""
        self._counted += size
        now = self._clock()
        if now - self._since < SPAN_SECONDS:
            return
        if self._counted < self._least:
            raise SourceFault(
                f"{self._source} is too slow: it sends fewer than {self._least} {self._unit} in {SPAN_SECONDS:.0f} s"
            )
        self._counted, self._since = 0, now
