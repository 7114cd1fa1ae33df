"""The options of snapshots: when they are written, and how they are exchanged (spec 06, section 5.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from ledgerd.protocol.endpoint import Endpoint


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
