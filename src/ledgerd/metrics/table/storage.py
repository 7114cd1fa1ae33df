"""Metrics of what the node keeps on disks."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, gauge

STATE, BLOCK_LOG, HISTORY, SNAPSHOTS = "state", "block_log", "history", "snapshots"

KEPT = MetricLabel("what", (STATE, BLOCK_LOG, HISTORY, SNAPSHOTS))

STORED_BYTES = gauge(
    "ledgerd_storage_bytes",
    "Sizes on the disk: of the file of the state, of the block logs, of the history and of the snapshots.",
    KEPT,
)
FREE_BYTES = gauge("ledgerd_storage_free_bytes", "Free bytes of the disk on which it lies.", KEPT)
DISK_BYTES = gauge("ledgerd_storage_disk_bytes", "Size of the disk on which it lies.", KEPT)
SNAPSHOT_COUNT = gauge("ledgerd_snapshots", "Snapshots in the directory.")
SNAPSHOT_BLOCK = gauge("ledgerd_snapshot_last_block", "Block of the newest snapshot in the directory.")
HISTORY_BLOCK = gauge("ledgerd_history_last_block", "Number of the last block in the history of operations.")
