"""On which terms a snapshot is imported."""

from __future__ import annotations

import msgspec


class Terms(msgspec.Struct, frozen=True):
    """What a snapshot has to be, and what is kept of it."""

    residual: int = 0
    """Its tokens must exceed its supply by exactly so many (spec 11, section 8.6)."""
    with_metadata: bool = False
    """Whether metadata of markets is taken: where the plugin that keeps it runs."""
    audits_later: bool = False
    """Whether a state that takes longer than a minute to check is left unchecked; it says so of itself."""
    needed_block: tuple[int, str] | None = None
    """The number and the id, in hex, of a block that must be in its chain."""
    sources: int = 0
    """The trusted peers that serve these records; 0 for a file of the operator."""
    checksum: str = ""
    """Of the file, in hex."""


ANY = Terms()
