"""Metrics of JSON-RPC: requests, answers, connections, and the worker processes."""

from __future__ import annotations

from ledgerd.metrics.families import LabelSource, MetricLabel, Writer, counter, gauge, histogram

OTHER_METHOD = "other"

OK, CACHED, REFUSED, FAILED = "ok", "cached", "refused", "failed"

METHOD = MetricLabel(
    "method",
    source=LabelSource.METHODS,
    about="methods that the node offers, as `api.method`; `name.*` for all methods of an enabled plugin of others; "
    "`other` for requests that name none of them",
)
ANSWER = MetricLabel("outcome", (OK, CACHED, REFUSED, FAILED))
BYTES = MetricLabel("direction", ("received", "sent"))
SPEECH = MetricLabel("protocol", ("http", "websocket"))
HELD = MetricLabel("what", ("requests", "answers"))
OPTION = MetricLabel(
    "option",
    (
        "webserver-max-held-bytes",
        "webserver-max-held-answer-bytes",
        "webserver-max-batch-size",
        "webserver-max-names",
        "webserver-max-answer-size",
        "webserver-max-connections",
        "webserver-max-connections-per-address",
        "webserver-max-subscriptions",
        "webserver-max-subscriptions-per-address",
        "webserver-max-subscriptions-per-process",
        "webserver-max-requests-per-second",
        "webserver-allowed-origins",
        "other",
    ),
)

REQUESTS = counter(
    "ledgerd_rpc_requests_total",
    "Requests by method and by answer: made (`ok`), taken from the cache (`cached`), an error of the client's making "
    "(`refused`), or an internal error (`failed`). Requests of a batch count one by one.",
    METHOD,
    ANSWER,
    writer=Writer.WORKERS,
    is_sparse=True,
)
REQUEST_TIME = histogram(
    "ledgerd_rpc_request_seconds",
    "Time to answer a request, without the reading of its JSON. Cached answers and subscriptions are not in it.",
    (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5),
    METHOD,
    writer=Writer.WORKERS,
    is_sparse=True,
)
RPC_BYTES = counter("ledgerd_rpc_bytes_total", "Bytes from and to clients.", BYTES, writer=Writer.WORKERS)
CONNECTIONS = gauge("ledgerd_rpc_connections", "Open connections of clients.", SPEECH, writer=Writer.WORKERS)
CONNECTIONS_MADE = counter(
    "ledgerd_rpc_accepted_connections_total", "Connections of clients that were accepted.", writer=Writer.WORKERS
)
UNANSWERED = gauge(
    "ledgerd_rpc_unanswered_connections", "Connections with requests that wait or are worked on.", writer=Writer.WORKERS
)
HELD_BYTES = gauge(
    "ledgerd_rpc_held_bytes",
    "Bytes that workers keep: of unfinished or waiting requests, and of answers that clients have not read.",
    HELD,
    writer=Writer.WORKERS,
)
CACHED_ANSWERS = gauge("ledgerd_rpc_cached_answers", "Answers in the caches of the workers.", writer=Writer.WORKERS)
LIMITS_REACHED = counter(
    "ledgerd_rpc_limits_reached_total",
    "Requests and connections that a limit has refused, by the option of the limit.",
    OPTION,
    writer=Writer.WORKERS,
)
WORKERS_RUNNING = gauge("ledgerd_rpc_workers", "API workers that run.")
WORKER_STARTS = counter("ledgerd_rpc_worker_starts_total", "Starts of API workers: more than there are means restarts.")
