"""Metrics by validator: those of this round, and those that the node was told to watch."""

from __future__ import annotations

from ledgerd.metrics.families import LabelSource, MetricLabel, counter, gauge

VALIDATOR = MetricLabel(
    "validator",
    source=LabelSource.VALIDATORS,
    about="validators of this round and those of `validator-monitor`, by name; `other` for all others",
)

VALIDATOR_BLOCKS = counter(
    "ledgerd_validator_applied_blocks_total", "Blocks of the validator that this node has applied.", VALIDATOR
)
VALIDATOR_MISSED = counter(
    "ledgerd_validator_missed_slots_total",
    "Slots that the validator has missed since it was made, by the state of the chain; 0 for `other`.",
    VALIDATOR,
)
VALIDATOR_LAST = gauge(
    "ledgerd_validator_last_block", "Number of the validator's last block, by the state of the chain.", VALIDATOR
)

VALIDATOR_FAMILIES = (VALIDATOR_BLOCKS, VALIDATOR_MISSED, VALIDATOR_LAST)
