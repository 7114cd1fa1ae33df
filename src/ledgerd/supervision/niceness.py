"""Processes that give way to the one that follows the chain, where processors are short."""

from __future__ import annotations

import logging
import os
import sys

log = logging.getLogger(__name__)


def give_way(steps: int) -> None:
    """Give way by so many steps, in the words of `nice`; where the system forbids that, go on without."""
    if sys.platform == "win32":
        return
    try:
        os.nice(steps)
    except OSError as problem:
        log.warning("the priority of this process cannot be lowered: %s", problem.strerror)
