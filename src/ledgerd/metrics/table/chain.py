"""Metrics of the chain: its head, its blocks and what they cost, branches, hardforks, pending transactions."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, counter, gauge, histogram
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS

UNKNOWN = "unknown"

HARDFORK = MetricLabel("hardfork", (*(str(each.number) for each in MAINNET_HARDFORKS), UNKNOWN))
KIND = MetricLabel("kind", ("real", "virtual"))
POOL = MetricLabel("pool", ("chain", "relay"))

APPLY_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

HEAD = gauge("ledgerd_chain_head_block", "Number of the head block.")
IRREVERSIBLE = gauge("ledgerd_chain_irreversible_block", "Number of the last irreversible block.")
HEAD_TIME = gauge("ledgerd_chain_head_timestamp_seconds", "Time of the head block, since 1970.")
HEAD_AGE = gauge("ledgerd_chain_head_age_seconds", "Age of the head block by the node's clock, as of the last second.")
BLOCKS_APPLIED = counter("ledgerd_chain_applied_blocks_total", "Blocks applied and committed.")
TRANSACTIONS_APPLIED = counter("ledgerd_chain_applied_transactions_total", "Transactions in applied blocks.")
OPERATIONS_APPLIED = counter(
    "ledgerd_chain_applied_operations_total", "Operations of applied blocks: real ones, and virtual ones.", KIND
)
APPLY_TIME = histogram(
    "ledgerd_chain_apply_seconds",
    "Time to check and apply a block that became the head, without the commit; a change of branch counts as one.",
    APPLY_BOUNDS,
)
COMMIT_TIME = histogram(
    "ledgerd_chain_commit_seconds",
    "Time to make blocks durable, in log, histories and state: of each block, and of many at once during a sync.",
    APPLY_BOUNDS,
)
REORGANISATIONS = histogram(
    "ledgerd_chain_reorganisation_blocks",
    "Changes of branch, by the number of blocks that were undone.",
    (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 42.0),
)
MISSED_SLOTS = counter(
    "ledgerd_chain_missed_slots_total", "Slots without a block, between two blocks that this node has applied."
)
PARTICIPATION = gauge("ledgerd_chain_participation_ratio", "The part of the last 128 slots that has a block.")
EMERGENCY = gauge("ledgerd_chain_emergency", "1 while the emergency consensus is on, else 0.")
HARDFORK_NOW = gauge("ledgerd_chain_hardfork", "Number of the last hardfork that has happened.")
HARDFORK_VOTES = gauge(
    "ledgerd_chain_hardfork_votes",
    "Scheduled validators by the hardfork that they vote for; `unknown` for one that this program does not know.",
    HARDFORK,
    is_sparse=True,
)
HARDFORKS_RUNNING = gauge(
    "ledgerd_chain_running_hardfork_validators",
    "Scheduled validators by the last hardfork that their program knows; `unknown` if this program does not know it.",
    HARDFORK,
    is_sparse=True,
)
POOL_TRANSACTIONS = gauge(
    "ledgerd_mempool_transactions",
    "Pending transactions: those that the next block is made of (`chain`), and those that are relayed (`relay`).",
    POOL,
)
POOL_BYTES = gauge("ledgerd_mempool_relay_bytes", "Bytes of the pending transactions that are relayed.")

CLIENT_TRANSACTIONS = gauge(
    "ledgerd_mempool_client_transactions", "Pending transactions of this node's clients, which are offered to peers."
)
UNHEARD_TRANSACTIONS = gauge(
    "ledgerd_mempool_unheard_transactions",
    "Of these, those that no peer has heard of: sent over no connection that still stands, and received over none.",
)
