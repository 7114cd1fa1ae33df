"""How many files and sockets this process may have open (`ulimit -n`)."""

from __future__ import annotations

import sys


def files_allowed(needed: int) -> int:
    """Raise the soft limit as far as it takes and the hard limit allows; so many may be open then."""
    if sys.platform == "win32":
        return needed
    import resource  # noqa: PLC0415 - it does not exist for Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    return max(soft, allowed)
