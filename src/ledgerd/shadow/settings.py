"""The options of a shadow, and what its process is told. Loaded with every configuration, they know nothing of what is
compared.
"""

from __future__ import annotations

import msgspec

DEFAULT_RATE = 10
LEAST_RATE = 5
"""With fewer requests a second, what is asked of each block and round takes longer than they."""
DEFAULT_PROCESSOR = 20
FOLDER = "shadow"
"""In the data directory: the record, and what was found."""


class ShadowSettings(msgspec.Struct, frozen=True):
    """The node that is compared with this one, and what may be spent on that; without one there is no shadow."""

    url: str | None = None
    rate: int = DEFAULT_RATE
    """Requests a second to each of both nodes."""
    processor: int = DEFAULT_PROCESSOR
    """Percent of one core that the comparison takes at most."""
    required: bool = False
    most_behind: int = 0
    """Blocks by which our head may be above the block at which both were last found equal, for a block to be signed."""


class ShadowOrder(msgspec.Struct, frozen=True):
    """What a shadow is told at its start."""

    ours: str
    theirs: str
    folder: str
    rate: float
    processor: float
    """Percent of one core."""
    configuration: dict[str, str] = {}
    """Options of our node that a bundle may show."""
