"""Limits the log lines that peers cause: those above a rate are counted, and the count is logged."""

from __future__ import annotations

import logging

from ledgerd.p2p.shared.budget import TokenBucket

log = logging.getLogger(__name__)

BURST, A_SECOND = 30, 0.2
"""A burst, and a rate per second: 720 an hour."""
LONGEST = 300
"""Characters of a line, which may quote a peer."""
SUMMARY_SECONDS = 60.0


class Notices:
    """Logs lines about peers at a limited rate."""

    def __init__(self, now: float) -> None:
        self._budget = TokenBucket(BURST, A_SECOND, now)
        self._left_out = 0
        self._told_at = now

    def tell(self, now: float, who: object, what: str, level: int = logging.INFO) -> None:
        """Log a line, unless the rate is exceeded."""
        if self._budget.take(1, now):
            log.log(level, "%s: %s", who, what[:LONGEST])
        else:
            self._left_out += 1
        self.sum_up(now)

    def sum_up(self, now: float) -> None:
        """Once a minute, log how many lines were left out."""
        if self._left_out and now - self._told_at >= SUMMARY_SECONDS:
            left_out, self._left_out, self._told_at = self._left_out, 0, now
            log.info("%d more lines of peers were left out", left_out)
