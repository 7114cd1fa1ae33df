"""The dashboards: panels with their queries."""

from __future__ import annotations

from typing import NamedTuple

from scripts.monitoring.queries import NODE, WINDOW, Query, both, now, quantile, rate


class DashboardPanel(NamedTuple):
    """A panel of a dashboard."""

    title: str
    about: str
    queries: tuple[Query, ...]
    unit: str = "short"
    kind: str = "timeseries"


class Dashboard(NamedTuple):
    """A dashboard: its file is called like its name."""

    name: str
    title: str
    panels: tuple[DashboardPanel, ...]


PARTICIPATION = DashboardPanel(
    "Participation",
    "The part of the last 128 slots that has a block.",
    (now("ledgerd_chain_participation_ratio"),),
    "percentunit",
)

NODE_BOARD = Dashboard(
    "node",
    "ledgerd: node",
    (
        DashboardPanel(
            "Head block", "The number of the newest block.", (now("ledgerd_chain_head_block"),), kind="stat"
        ),
        DashboardPanel(
            "Age of the head",
            "Above a minute, the node is behind, or the network stands still.",
            (now("ledgerd_chain_head_age_seconds"),),
            "s",
        ),
        DashboardPanel(
            "Blocks that can still be undone",
            "Head less the last irreversible block.",
            (Query(f"ledgerd_chain_head_block{{{NODE}}} - ledgerd_chain_irreversible_block{{{NODE}}}"),),
        ),
        PARTICIPATION,
        DashboardPanel(
            "Blocks applied",
            "A third of a block a second live, more in a sync.",
            (rate("ledgerd_chain_applied_blocks_total"),),
            "cps",
        ),
        DashboardPanel(
            "Transactions and operations",
            "In applied blocks.",
            (
                rate("ledgerd_chain_applied_transactions_total", "{{instance}} transactions"),
                rate("ledgerd_chain_applied_operations_total", "{{instance}} {{kind}} operations", "instance, kind"),
            ),
            "cps",
        ),
        DashboardPanel("Time to apply a block", "Without the commit.", both("ledgerd_chain_apply_seconds"), "s"),
        DashboardPanel(
            "Time to commit", "Of a block, or of many during a sync.", both("ledgerd_chain_commit_seconds"), "s"
        ),
        DashboardPanel(
            "Changes of branch",
            "In the last hour, and the blocks that they undid.",
            (
                Query(f"increase(ledgerd_chain_reorganisation_blocks_count{{{NODE}}}[1h])", "{{instance}} changes"),
                Query(f"increase(ledgerd_chain_reorganisation_blocks_sum{{{NODE}}}[1h])", "{{instance}} blocks"),
            ),
        ),
        DashboardPanel(
            "Pending transactions",
            "Of the chain, relayed ones, and those of clients that no peer has heard of.",
            (
                now("ledgerd_mempool_transactions", "{{instance}} {{pool}}"),
                now("ledgerd_mempool_unheard_transactions", "{{instance}} unheard"),
            ),
        ),
        DashboardPanel("Hardfork", "The last one that has happened.", (now("ledgerd_chain_hardfork"),), kind="stat"),
        DashboardPanel(
            "Hardforks voted for",
            "Scheduled validators by the hardfork that they vote for.",
            (now("ledgerd_chain_hardfork_votes", "{{instance}} hardfork {{hardfork}}"),),
        ),
        DashboardPanel(
            "Emergency", "1 while the emergency consensus is on.", (now("ledgerd_chain_emergency"),), kind="stat"
        ),
        DashboardPanel(
            "Memory",
            "Of each process.",
            (now("ledgerd_process_resident_memory_bytes", "{{instance}} {{process}}"),),
            "bytes",
        ),
        DashboardPanel(
            "Shadow",
            "Questions that the node beside this one answers otherwise, and answers that are in doubt.",
            (
                now("ledgerd_shadow_differences", "{{instance}} {{kind}}"),
                now("ledgerd_shadow_doubtful", "{{instance}} in doubt"),
            ),
        ),
        DashboardPanel(
            "Equal to the shadow",
            "Seconds since both were found equal at a head; a few, while both follow the network.",
            (now("ledgerd_shadow_age_seconds"),),
            "s",
        ),
        DashboardPanel(
            "Snapshots of the shadow",
            "Places in doubt in the last snapshot of the node beside this one, and 1 while none could be compared.",
            (
                now("ledgerd_shadow_snapshots_doubtful", "{{instance}} in doubt"),
                now("ledgerd_shadow_snapshots_failed", "{{instance}} failed"),
            ),
        ),
        DashboardPanel(
            "Processor",
            "Seconds a second, of each process.",
            (rate("ledgerd_process_cpu_seconds_total", "{{instance}} {{process}}", "instance, process"),),
        ),
        DashboardPanel(
            "Delay of event loops",
            "How late they call back, p99. The chain's is as late as blocks take.",
            (
                quantile(
                    0.99,
                    "ledgerd_event_loop_delay_seconds",
                    "instance, process, loop",
                    "{{instance}} {{process}} {{loop}}",
                ),
            ),
            "s",
        ),
        DashboardPanel(
            "Open files and sockets",
            "As a part of what is allowed.",
            (
                Query(
                    f"ledgerd_process_open_fds{{{NODE}}} / ledgerd_process_max_fds{{{NODE}}}",
                    "{{instance}} {{process}}",
                ),
            ),
            "percentunit",
        ),
        DashboardPanel("Version", "What runs.", (now("ledgerd_build_info", "{{instance}} {{version}}"),), kind="stat"),
    ),
)

VALIDATOR_BOARD = Dashboard(
    "validator",
    "ledgerd: validators",
    (
        DashboardPanel(
            "Slots missed in the last hour",
            "By validator.",
            (
                Query(
                    "sum by (validator) "
                    f'(increase(ledgerd_validator_missed_slots_total{{{NODE},validator!="other"}}[1h]))',
                    "{{validator}}",
                ),
            ),
        ),
        DashboardPanel(
            "Blocks made in the last hour",
            "As far as the node has applied them.",
            (
                Query(
                    f"sum by (validator) (increase(ledgerd_validator_applied_blocks_total{{{NODE}}}[1h]))",
                    "{{validator}}",
                ),
            ),
        ),
        DashboardPanel(
            "Blocks since the last own one",
            "Grows while a validator makes none.",
            (
                Query(
                    f"max by (validator) (ledgerd_chain_head_block{{{NODE}}}"
                    f" - on (instance) group_right ledgerd_validator_last_block{{{NODE}}})",
                    "{{validator}}",
                ),
            ),
        ),
        DashboardPanel(
            "Missed slots", "Of all validators, a second.", (rate("ledgerd_chain_missed_slots_total"),), "cps"
        ),
        PARTICIPATION,
        DashboardPanel(
            "Hardforks that programs know",
            "Scheduled validators by the last hardfork that their program knows.",
            (now("ledgerd_chain_running_hardfork_validators", "{{instance}} hardfork {{hardfork}}"),),
        ),
        DashboardPanel(
            "Slots of watched validators",
            "Those of validator-monitor, in the last hour: made, or missed and why.",
            (Query(f"increase(ledgerd_watched_slots_total{{{NODE}}}[1h])", "{{validator}} {{result}}"),),
        ),
        DashboardPanel(
            "Lateness of watched validators",
            "From the start of a slot until its block was first seen here.",
            (now("ledgerd_watched_block_delay_seconds", "{{validator}} {{statistic}}"),),
            "s",
        ),
        DashboardPanel(
            "Votes for watched validators",
            "Given ones, and what is left after penalties.",
            (now("ledgerd_watched_votes_shares", "{{validator}} {{votes}}"),),
        ),
    ),
)


PEERS_BOARD = Dashboard(
    "peers",
    "ledgerd: peers",
    (
        DashboardPanel(
            "Connections",
            "By who dialled, and by state.",
            (
                Query(
                    f"sum by (instance, direction, state) (ledgerd_p2p_peers{{{NODE}}})",
                    "{{instance}} {{direction}} {{state}}",
                ),
            ),
        ),
        DashboardPanel(
            "Heads of peers",
            "The lowest, the middle and the highest one that peers claim, and our own.",
            (
                now("ledgerd_p2p_peer_head_block", "{{instance}} {{statistic}}"),
                now("ledgerd_chain_head_block", "{{instance}} own"),
            ),
        ),
        DashboardPanel(
            "Round trips",
            "To peers, as TCP measures them.",
            (now("ledgerd_p2p_round_trip_seconds", "{{instance}} {{statistic}}"),),
            "s",
        ),
        DashboardPanel(
            "Lateness of blocks",
            "From the start of their slot until they were received.",
            both("ledgerd_p2p_block_delay_seconds"),
            "s",
        ),
        DashboardPanel(
            "Messages",
            "By direction and type.",
            (rate("ledgerd_p2p_messages_total", "{{direction}} {{type}}", "direction, type"),),
            "cps",
        ),
        DashboardPanel(
            "Bytes",
            "By direction.",
            (rate("ledgerd_p2p_message_bytes_total", "{{instance}} {{direction}}", "instance, direction"),),
            "Bps",
        ),
        DashboardPanel(
            "Blocks of peers",
            "By what became of them.",
            (rate("ledgerd_p2p_blocks_total", "{{instance}} {{outcome}}", "instance, outcome"),),
            "cps",
        ),
        DashboardPanel(
            "Send buffers", "Bytes that peers have not taken yet.", (now("ledgerd_p2p_send_buffer_bytes"),), "bytes"
        ),
        DashboardPanel(
            "Strikes and bans",
            "Invalid messages, and addresses banned for them, in the last hour.",
            (
                Query(f"increase(ledgerd_p2p_strikes_total{{{NODE}}}[1h])", "{{instance}} strikes"),
                Query(f"increase(ledgerd_p2p_bans_total{{{NODE}}}[1h])", "{{instance}} bans: {{reason}}"),
            ),
        ),
        DashboardPanel("Syncing", "1 while missing blocks are requested in ranges.", (now("ledgerd_p2p_syncing"),)),
        DashboardPanel(
            "On a minority fork", "1 while most validators build elsewhere.", (now("ledgerd_p2p_minority_fork"),)
        ),
    ),
)

RPC_BOARD = Dashboard(
    "rpc",
    "ledgerd: JSON-RPC",
    (
        DashboardPanel(
            "Requests",
            "By how they were answered.",
            (rate("ledgerd_rpc_requests_total", "{{instance}} {{outcome}}", "instance, outcome"),),
            "reqps",
        ),
        DashboardPanel(
            "Methods asked for most",
            "The first ten.",
            (Query(f"topk(10, sum by (method) (rate(ledgerd_rpc_requests_total{{{NODE}}}[{WINDOW}])))", "{{method}}"),),
            "reqps",
        ),
        DashboardPanel("Time of answers", "Without those of the cache.", both("ledgerd_rpc_request_seconds"), "s"),
        DashboardPanel(
            "Methods that take most time",
            "Seconds a second, the first ten.",
            (
                Query(
                    f"topk(10, sum by (method) (rate(ledgerd_rpc_request_seconds_sum{{{NODE}}}[{WINDOW}])))",
                    "{{method}}",
                ),
            ),
            "s",
        ),
        DashboardPanel(
            "Answers from the cache",
            "As a part of all.",
            (
                Query(
                    f'sum by (instance) (rate(ledgerd_rpc_requests_total{{{NODE},outcome="cached"}}[{WINDOW}]))'
                    f" / sum by (instance) (rate(ledgerd_rpc_requests_total{{{NODE}}}[{WINDOW}]))"
                ),
            ),
            "percentunit",
        ),
        DashboardPanel("Cached answers", "In all workers.", (now("ledgerd_rpc_cached_answers"),)),
        DashboardPanel(
            "Bytes",
            "From and to clients.",
            (rate("ledgerd_rpc_bytes_total", "{{instance}} {{direction}}", "instance, direction"),),
            "Bps",
        ),
        DashboardPanel(
            "Connections",
            "Open ones, and those that wait for an answer.",
            (
                now("ledgerd_rpc_connections", "{{instance}} {{protocol}}"),
                now("ledgerd_rpc_unanswered_connections", "{{instance}} waiting"),
            ),
        ),
        DashboardPanel("New connections", "A second.", (rate("ledgerd_rpc_accepted_connections_total"),), "cps"),
        DashboardPanel(
            "Bytes kept",
            "Of requests, and of answers that clients have not read.",
            (now("ledgerd_rpc_held_bytes", "{{instance}} {{what}}"),),
            "bytes",
        ),
        DashboardPanel(
            "Limits reached",
            "By option, in the last hour.",
            (Query(f"sum by (option) (increase(ledgerd_rpc_limits_reached_total{{{NODE}}}[1h]))", "{{option}}"),),
        ),
        DashboardPanel(
            "Workers",
            "Those that run, and all starts.",
            (now("ledgerd_rpc_workers"), now("ledgerd_rpc_worker_starts_total", "{{instance}} starts")),
        ),
    ),
)

HISTORY_BOARD = Dashboard(
    "history",
    "ledgerd: history and disks",
    (
        DashboardPanel("Sizes", "On the disk.", (now("ledgerd_storage_bytes", "{{instance}} {{what}}"),), "bytes"),
        DashboardPanel(
            "Growth",
            "Bytes a day, from the last hour.",
            (Query(f"86400 * deriv(ledgerd_storage_bytes{{{NODE}}}[1h])", "{{instance}} {{what}}"),),
            "bytes",
        ),
        DashboardPanel(
            "Free space",
            "As a part of the disk.",
            (
                Query(
                    f"ledgerd_storage_free_bytes{{{NODE}}} / ledgerd_storage_disk_bytes{{{NODE}}}",
                    "{{instance}} {{what}}",
                ),
            ),
            "percentunit",
        ),
        DashboardPanel(
            "Free bytes",
            "Of the disk on which it lies.",
            (now("ledgerd_storage_free_bytes", "{{instance}} {{what}}"),),
            "bytes",
        ),
        DashboardPanel(
            "History behind the head",
            "Blocks; always 0 but in a rebuild.",
            (Query(f"ledgerd_chain_head_block{{{NODE}}} - ledgerd_history_last_block{{{NODE}}}"),),
        ),
        DashboardPanel(
            "Blocks that wait for webhooks",
            "Of three seconds each; a webhook ends when too many wait.",
            (
                now("ledgerd_webhook_behind_blocks", "{{instance}} {{webhook}}"),
                now("ledgerd_webhook_most_behind_blocks", "{{instance}} {{webhook}} at most"),
            ),
        ),
        DashboardPanel(
            "Webhooks without an answer",
            "Failed attempts in a row, and 1 for a webhook that has ended.",
            (
                now("ledgerd_webhook_failures", "{{instance}} {{webhook}} failures"),
                now("ledgerd_webhook_ended", "{{instance}} {{webhook}} has ended"),
            ),
        ),
        DashboardPanel("Snapshots", "In the directory.", (now("ledgerd_snapshots"),)),
        DashboardPanel(
            "Age of the newest snapshot",
            "Blocks since then.",
            (Query(f"ledgerd_chain_head_block{{{NODE}}} - ledgerd_snapshot_last_block{{{NODE}}}"),),
        ),
        DashboardPanel("Time of a scrape", "Of the metrics themselves.", both("ledgerd_metrics_scrape_seconds"), "s"),
    ),
)

DASHBOARDS = (NODE_BOARD, VALIDATOR_BOARD, PEERS_BOARD, RPC_BOARD, HISTORY_BOARD)
