"""Metrics of the node's processes, and of the scrapes themselves."""

from __future__ import annotations

from ledgerd.metrics.families import LabelSource, MetricLabel, Writer, counter, gauge, histogram

MAIN_LOOP, CHAIN_LOOP = "main", "chain"

LOOP = MetricLabel("loop", (MAIN_LOOP, CHAIN_LOOP))
VERSION = MetricLabel("version", source=LabelSource.VERSION, about="the version of this program")

BUILD = gauge("ledgerd_build_info", "Always 1; its label says which version runs.", VERSION, writer=Writer.READER)
MEMORY = gauge("ledgerd_process_resident_memory_bytes", "Memory of the process (RSS).", writer=Writer.EACH)
PROCESSOR = counter("ledgerd_process_cpu_seconds_total", "Processor time of the process.", writer=Writer.EACH)
DESCRIPTORS = gauge("ledgerd_process_open_fds", "Open files and sockets of the process.", writer=Writer.EACH)
MOST_DESCRIPTORS = gauge("ledgerd_process_max_fds", "The most that it may have open.", writer=Writer.EACH)
THREADS = gauge("ledgerd_process_threads", "Threads of the process.", writer=Writer.EACH)
STARTED = gauge("ledgerd_process_start_time_seconds", "When the process was started, since 1970.", writer=Writer.EACH)
LOOP_DELAY = histogram(
    "ledgerd_event_loop_delay_seconds",
    "How much later than asked for an event loop has called back, measured once a second. `chain` is the loop of the "
    "chain's thread, which applying blocks occupies.",
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0),
    LOOP,
    writer=Writer.EACH,
    is_sparse=True,
)
SCRAPES = counter("ledgerd_metrics_scrapes_total", "Answers to `GET /metrics`.", writer=Writer.READER)
SCRAPE_TIME = histogram(
    "ledgerd_metrics_scrape_seconds",
    "Time to make such an answer.",
    (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0),
    writer=Writer.READER,
)
EXPLORER_RUNNING = gauge(
    "ledgerd_explorer_process",
    "1 while the explorer of `explorer-endpoint` runs, 0 where it does not or there is none.",
)
EXPLORER_STARTS = counter(
    "ledgerd_explorer_process_starts_total", "Starts of that process: more than one mean restarts."
)
REPLICA_BEHIND = gauge(
    "ledgerd_replica_blocks_behind",
    "Blocks that the followed node has and the replica of `ledgerd api --follow` has not.",
    writer=Writer.READER,
)
REPLICA_SERVED = gauge(
    "ledgerd_replica_served",
    "1 while requests are answered from that replica, 0 while they are refused: it has no state, a digest differed, or "
    "it is too far behind.",
    writer=Writer.READER,
)
