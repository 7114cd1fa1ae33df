"""The options of the plugin webserver: endpoints, worker processes, limits (spec 06, 5.4)."""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, our_option
from ledgerd.node.config.values.endpoints import ENDPOINT, EXEMPT, NETWORK, ORIGIN
from ledgerd.node.config.values.values import BOOL, SIZE, UINT32, UINT64, uint32
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.settings import WebserverSettings


def _complete(record: WebserverSettings, context: SectionContext) -> WebserverSettings:
    if record.rpc_endpoint is None:
        return record
    if record.http_endpoint is None and record.ws_endpoint is None:
        return msgspec.structs.replace(record, http_endpoint=record.rpc_endpoint, ws_endpoint=record.rpc_endpoint)
    context.remark("rpc-endpoint is ignored, since webserver-http-endpoint or webserver-ws-endpoint is given")
    return record


WEBSERVER = OptionSection(
    "webserver",
    "JSON-RPC: endpoints, worker processes and limits.",
    WebserverSettings,
    (
        Option(
            "webserver-http-endpoint", ENDPOINT, "The host and port to serve HTTP on. Without it, HTTP is not served."
        ),
        Option(
            "webserver-ws-endpoint",
            ENDPOINT,
            "The host and port to serve WebSocket on; with those of HTTP, one port serves both. Without it, WebSocket "
            "is not served.",
            example="127.0.0.1:8091",
        ),
        Option(
            "rpc-endpoint",
            ENDPOINT,
            "Older option that serves both on one port; used only if neither of the two above is given.",
        ),
        Option(
            "webserver-thread-pool-size",
            uint32(least=1),
            "The number of processes that answer requests. (In the reference, threads: 256 by default, 2 in its "
            "templates.)",
            default="2",
        ),
        Option("webserver-cache-enabled", BOOL, "Cache answers until the next block.", default="true"),
        Option(
            "webserver-cache-size",
            UINT64,
            "The most cached answers; at this number all are dropped.",
            default="10000",
        ),
        our_option(
            "webserver-broadcast-while-syncing",
            BOOL,
            "Take transactions of clients while the node catches up, as the reference does, which looks at nothing of "
            "the kind. They are checked against the state of then, and offered to each peer that becomes ready for "
            "them. With false, while blocks are missing and the head is older than 30 seconds, a transaction is "
            "answered with an error that says so.",
            default="true",
            field="broadcasts_while_syncing",
        ),
        our_option(
            "webserver-simulate-transactions",
            BOOL,
            "Answer node_api.simulate_transaction, which tries a transaction out and keeps nothing of it: to each "
            "address within a hundredth of the time of the chain's thread, and to all within a tenth.",
            default="false",
            field="simulates_transactions",
        ),
        our_option(
            "webserver-max-request-size",
            SIZE,
            "The most bytes of a request's body, or of a WebSocket message.",
            default="32000000",
            field="limits.body_bytes",
        ),
        our_option(
            "webserver-max-held-bytes",
            SIZE,
            "The most bytes of requests that a process buffers, unfinished and waiting ones, besides 64 KiB of each "
            "connection; when there are more, whoever has most is refused.",
            default="48000000",
            field="limits.held_bytes",
        ),
        our_option(
            "webserver-max-held-answer-bytes",
            SIZE,
            "The most bytes of answers that one of the processes holds: of batches that are not whole yet, and of what "
            "clients have not read. Beyond it, batches of whoever holds most are answered with an error, and its "
            "connections are closed; 0 for any size.",
            default="64000000",
            field="limits.held_answer_bytes",
        ),
        our_option(
            "webserver-max-header-size",
            SIZE,
            "The most bytes of a request's headers.",
            default="16000",
            field="limits.header_bytes",
        ),
        our_option(
            "webserver-max-batch-size",
            UINT32,
            "The most requests in one batch; 0 for any number.",
            default="1000",
            field="limits.batch",
        ),
        our_option(
            "webserver-max-names",
            UINT32,
            "The most names, keys and signatures in one request, or in all requests of a batch together; 0 for any "
            "number.",
            default="1000",
            field="limits.names",
        ),
        our_option(
            "webserver-max-answer-size",
            SIZE,
            "The most bytes of the answer to one request, or to a batch; 0 for any size.",
            default="32000000",
            field="limits.answer_bytes",
        ),
        our_option(
            "webserver-max-connections",
            UINT32,
            "The most connections to one of the processes at a time; 0 for any number.",
            default="1024",
            field="limits.connections",
        ),
        our_option(
            "webserver-max-connections-per-address",
            UINT32,
            "The most of them from one address; 0 for any number. At the limit, an idle one is closed for a new one.",
            default="256",
            field="limits.address_connections",
        ),
        our_option(
            "webserver-trusted-proxies",
            NETWORK,
            "Trusted proxies in front of the node: only from these, X-Forwarded-For names the address that limits "
            "count.",
            repeatable=True,
            words=True,
            field="limits.trusted_proxies",
        ),
        our_option(
            "webserver-exempt",
            EXEMPT,
            "Addresses that many clients share, such as that of a proxy which is not trusted: what they broadcast is "
            "charged to each connection, and else to the address. Networks as 10.0.0.0/8; private for this machine and "
            "private networks; none for no exemption.",
            default="private",
            repeatable=True,
            words=True,
            field="limits.exempt",
        ),
        our_option(
            "webserver-allowed-origins",
            ORIGIN,
            "Origins of web pages that may send requests to a listener on loopback, or to dev_api; their host names "
            "are also accepted in Host there. Other origins and host names are refused; * allows all. Listeners on "
            "other addresses answer every page.",
            repeatable=True,
            words=True,
            field="limits.allowed_origins",
        ),
        our_option(
            "webserver-max-subscriptions",
            UINT32,
            "The most open subscriptions and unfinished answers of one connection; 0 for any number.",
            default="100",
            field="limits.late_answers",
        ),
        our_option(
            "webserver-max-subscriptions-per-address",
            UINT32,
            "The most of them of one address; 0 for any number. Each connection of an exempt address or a trusted "
            "proxy counts for itself.",
            default="250",
            field="limits.address_late_answers",
        ),
        our_option(
            "webserver-max-subscriptions-per-process",
            UINT32,
            "The most of them in one of the processes; 0 for any number. At the limit, whoever has most gives way: a "
            "connection of it is closed for a new subscription of another.",
            default="1000",
            field="limits.all_late_answers",
        ),
        our_option(
            "webserver-max-requests-per-second",
            UINT32,
            "The most requests a second from one address, where each request of a batch counts: after a large one it "
            "has to wait. 0 for any number.",
            default="0",
            field="limits.address_rate",
        ),
        our_option(
            "webserver-request-timeout-sec",
            uint32(least=1),
            "Seconds from the first byte of a request within which it must have arrived whole.",
            default="30",
            field="limits.request_seconds",
        ),
        our_option(
            "webserver-idle-timeout-sec",
            uint32(least=1),
            "Seconds after which an HTTP connection without a request is closed.",
            default="75",
            field="limits.idle_seconds",
        ),
    ),
    within={"limits": Limits},
    complete=_complete,
    prefixes=("webserver-",),
)
