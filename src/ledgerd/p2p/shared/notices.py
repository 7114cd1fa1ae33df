"""Log lines that peers cause. They have a rate of their own, all together: strangers can cause any number."""

from __future__ import annotations

import logging

from ledgerd.supervision.line_rates import LineRate, limited

log = logging.getLogger(__name__)

BURST, A_SECOND = 30, 0.2
"""720 an hour."""
PEER_LINES = LineRate("lines of peers", BURST, A_SECOND)
LONGEST = 300
"""Characters of a line, which may quote a peer."""


def tell(who: object, what: str, level: int = logging.INFO) -> None:
    log.log(level, "%(peer)s: %(event)s", {"peer": who, "event": what[:LONGEST]}, extra=limited(PEER_LINES))
