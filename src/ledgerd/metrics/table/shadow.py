"""Metrics of the shadow: the node beside this one, and whether both are equal."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, counter, gauge

DIFFERENCE = MetricLabel("kind", ("consensus", "answers"))

SHADOW_DIFFERENCES = gauge(
    "ledgerd_shadow_differences", "Questions that the node beside this one answers otherwise.", DIFFERENCE
)
SHADOW_EQUAL_BLOCK = gauge("ledgerd_shadow_equal_block", "The last block at which both were found equal.")
SHADOW_AGE = gauge(
    "ledgerd_shadow_age_seconds", "Seconds since both were found equal, or since the start; 0 without a shadow."
)
SHADOW_DOUBTFUL = gauge("ledgerd_shadow_doubtful", "Answers that differ now, and have not done so for a round.")
SHADOW_QUESTIONS = counter("ledgerd_shadow_questions_total", "Questions that both nodes were asked.")
SHADOW_BLOCKS = counter("ledgerd_shadow_blocks_total", "Blocks whose ids were compared.")
SHADOW_SWEEPS = counter("ledgerd_shadow_sweeps_total", "Walks over every account and object.")

SHADOW_SNAPSHOTS = counter("ledgerd_shadow_snapshots_total", "Snapshots of the other node that were compared whole.")
SHADOW_SNAPSHOT_RECORDS = counter("ledgerd_shadow_snapshots_records_total", "Records that were compared in them.")
SHADOW_SNAPSHOT_BLOCK = gauge("ledgerd_shadow_snapshots_block", "The block of the last snapshot that was compared.")
SHADOW_SNAPSHOT_EQUAL_BLOCK = gauge(
    "ledgerd_shadow_snapshots_equal_block", "The block of the last snapshot of which every record was equal."
)
SHADOW_SNAPSHOT_DOUBTFUL = gauge("ledgerd_shadow_snapshots_doubtful", "Places that differ in the last snapshot.")
SHADOW_SNAPSHOT_FAILED = gauge(
    "ledgerd_shadow_snapshots_failed", "1 while the last snapshot could not be fetched or compared."
)
