"""The options of snapshots (spec 06, section 5.7), and on which terms one is imported."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.protocol.types.endpoint import Endpoint


class SnapshotSettings(msgspec.Struct, frozen=True):
    """The options of snapshots; a number of 0 switches its option off."""

    at_block: int
    every_n_blocks: int
    directory: Path
    max_age_days: int
    allow_serving: bool
    only_trusted: bool
    served_addresses: tuple[str, ...]
    disable_anti_spam: bool
    endpoint: Endpoint
    trusted_peers: tuple[Endpoint, ...]
    sync_from_trusted_peer: bool
    enable_stalled_sync_detection: bool
    stalled_sync_timeout_minutes: int
    test_trusted_seeds: bool
    pm_legacy_residual: int
    include_pm_meta: bool
    knows_pm_meta: bool = False
    """Whether metadata of markets is kept here at all: only then is it imported (spec 11, section 8.5)."""

    @property
    def writes_pm_meta(self) -> bool:
        return self.include_pm_meta and self.knows_pm_meta


class Terms(msgspec.Struct, frozen=True):
    """The conditions on a snapshot, and what of it is kept."""

    residual: int = 0
    """The tokens by which it must exceed its supply, exactly (spec 11, section 8.6)."""
    with_metadata: bool = False
    """Whether metadata of markets is taken: where the plugin that keeps it runs."""
    audits_later: bool = False
    """Whether a state that takes longer than a minute to check is left unchecked; it says so of itself."""
    needed_block: tuple[int, str] | None = None
    """The number and the id, in hex, of a block that must be in its chain."""
    sources: int = 0
    """The trusted peers that serve these records; 0 for a file of the operator."""
    checksum: str = ""
    """The checksum of the file, in hex."""


ANY = Terms()
