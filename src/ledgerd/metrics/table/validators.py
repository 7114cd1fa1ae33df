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

RESULT = MetricLabel("result", ("made", "unseen", "late", "branch", "refused", "not_watched"))
LATENESS = MetricLabel("statistic", ("mean", "most", "last"))
VOTES = MetricLabel("votes", ("given", "counted"))

WATCHED_SLOTS = counter(
    "ledgerd_watched_slots_total",
    "Slots of a validator of `validator-monitor` since the start of the node: `made`, or missed: no block was seen "
    "(`unseen`), it was seen `late`, it is on a `branch`, it was `refused`, or this node was behind (`not_watched`).",
    VALIDATOR,
    RESULT,
    is_sparse=True,
)
WATCHED_DELAY = gauge(
    "ledgerd_watched_block_delay_seconds",
    "How long after their slots the blocks of a validator of `validator-monitor` were first seen here.",
    VALIDATOR,
    LATENESS,
)
WATCHED_VOTES = gauge(
    "ledgerd_watched_votes_shares",
    "Votes for a validator of `validator-monitor`, and what is left of them after penalties.",
    VALIDATOR,
    VOTES,
)
WATCHED_PENALTY = gauge("ledgerd_watched_penalty_ratio", "Penalty of a validator of `validator-monitor`.", VALIDATOR)
WATCHED_REWARD = counter(
    "ledgerd_watched_reward_shares_total",
    "Shares that a validator of `validator-monitor` was paid for blocks since the start of the node.",
    VALIDATOR,
    is_sparse=True,
)
WATCHED_KEY = gauge(
    "ledgerd_watched_signing_key", "1 while a validator of `validator-monitor` has a signing key, else 0.", VALIDATOR
)

CAUSE = MetricLabel("cause", ("signer_away", "signer_refused", "branch", "other"))
LOST_SLOTS = counter(
    "ledgerd_validator_lost_slots_total",
    "Slots of this node's own validators that the head has passed without a block, by what this node did last for "
    "them: its signer was away (`signer_away`) or refused (`signer_refused`), its block is on a `branch`, or `other`.",
    CAUSE,
)
