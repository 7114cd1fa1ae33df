"""What modules without a test module of their own name have in common."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Modules that are without a twin for one reason."""

    why: str
    proven_by: tuple[str, ...]
    """Tests or folders of tests, below `tests/`."""
    modules: str
    """Paths below `src/ledgerd/`, without their ending."""
