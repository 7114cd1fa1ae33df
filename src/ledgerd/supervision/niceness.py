"""Processes that give way to the one that follows the chain, where processors are short."""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger(__name__)


def give_way(steps: int) -> None:
    """Lower the priority by this `nice` increment; continue without that if the system forbids it."""
    if sys.platform == "win32":
        return
    try:
        os.nice(steps)
    except OSError as problem:
        log.warning("the priority of this process cannot be lowered: %(reason)s", {"reason": problem.strerror})
