"""The options of what runs beside the chain: metrics, validator monitor, webhooks, stream for replicas, explorer."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ledgerd.explorer.settings import ExplorerOptions
from ledgerd.history.webhooks.settings import MOST_BEHIND, Webhook, WebhookFault, WebhookSettings
from ledgerd.metrics.table.webhooks import MOST_WEBHOOKS
from ledgerd.node.config.options import declaration
from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK
from ledgerd.node.config.values.json_values import NAME
from ledgerd.node.config.values.kind import OptionKind, WrongValue, refusing
from ledgerd.node.config.values.values import BOOL, UINT32, uint32
from ledgerd.producer.signing.signer_place import PlaceFault
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.names import AccountName
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.shadow.settings import (
    DEFAULT_PROCESSOR,
    DEFAULT_RATE,
    DEFAULT_SNAPSHOT_HOURS,
    DEFAULT_SNAPSHOT_MIB,
    LEAST_RATE,
    ShadowSettings,
    read_snapshot_place,
)

HOOK_EXAMPLE = (
    "https://shop.example/viz secret=/etc/ledgerd/webhook.secret types=transfer accounts=shop direction=incoming"
)


def _read_webhook(text: str) -> Webhook:
    from ledgerd.history.webhooks.reading import read_webhook  # noqa: PLC0415 - loaded when there is one to read

    try:
        return read_webhook(text)
    except WebhookFault as fault:
        raise WrongValue(str(fault)) from None


def _show_webhook(hook: Webhook) -> str:
    from ledgerd.history.webhooks.reading import written_webhook  # noqa: PLC0415 - as above

    return written_webhook(hook)


def _complete_webhooks(record: WebhookSettings, _context: declaration.SectionContext) -> WebhookSettings:
    if len(record.hooks) > MOST_WEBHOOKS:
        raise declaration.WrongTogether(
            "history-webhook", f"is given {len(record.hooks)} times: {MOST_WEBHOOKS} are allowed"
        )
    return record


WEBHOOK = OptionKind(
    "URL", "http(s)://HOST[:PORT]/PATH secret=FILE, and a filter after it", HOOK_EXAMPLE, _read_webhook, _show_webhook
)

WEBHOOKS = declaration.OptionSection(
    "webhooks",
    "Where operations of the history are sent; the plugin operation_history records them.",
    WebhookSettings,
    (
        declaration.our_option(
            "history-webhook",
            WEBHOOK,
            "Send operations there, signed with the secret of a file; types=, accounts=, direction=, reversible= and "
            "start= may stand after it.",
            repeatable=True,
            field="hooks",
        ),
        declaration.our_option(
            "history-webhook-most-behind",
            uint32(raised_to=1),
            "Blocks that may wait for a receiver; the webhook ends when there are more.",
            default=str(MOST_BEHIND),
            field="most_behind",
        ),
    ),
    complete=_complete_webhooks,
)

STREAM_ENDPOINT = "state-stream-endpoint"


def _complete_stream(record: StreamSettings, context: declaration.SectionContext) -> StreamSettings:
    if record.fault:
        raise declaration.WrongTogether(STREAM_ENDPOINT, record.fault)
    given = declaration.certificates_of(record)
    return replace(record, **{name: context.data_dir / path for name, path in given.items() if path is not None})


STREAM_PLACE = OptionKind(
    "PLACE",
    "unix:/PATH or tcp://HOST:PORT",
    "tcp://127.0.0.1:8095",
    refusing(PlaceFault, read_stream_place),
    lambda place: str(StreamSettings(place)),
)

STATE_STREAM = declaration.OptionSection(
    "state_stream",
    "Changes of the state, for replicas (ledgerd api --follow) on this machine or others; docs/replicas.md.",
    StreamSettings,
    (
        declaration.our_option(
            STREAM_ENDPOINT,
            STREAM_PLACE,
            "Send the changes of every commit there. Without certificates it is a Unix socket or an address of this "
            "machine; with them, both sides show one. Off by default: then nothing is kept or computed for it.",
            field="place",
        ),
        *declaration.certificate_options("state-stream", "replicas", "replicas", ("stream", "replicas")),
    ),
    complete=_complete_stream,
)

EXPLORER = declaration.OptionSection(
    "explorer",
    "Pages about the chain for people, from a process of its own; docs/explorer.md says what is on them.",
    ExplorerOptions,
    (
        declaration.our_option(
            "explorer-endpoint",
            ENDPOINT,
            "The host and port to serve the pages on. Without it, there are none. Each visitor may have so much, and "
            "they ask the node as any client does.",
            example="127.0.0.1:8093",
        ),
        declaration.our_option(
            "explorer-trusted-proxies",
            NETWORK,
            "Trusted proxies in front of the explorer, besides this machine: only from these, X-Forwarded-For names "
            "the visitor.",
            repeatable=True,
            words=True,
        ),
    ),
    prefixes=("explorer-",),
)


def _node_url(text: str) -> str:
    from ledgerd.client.address import read_address  # noqa: PLC0415 - loaded when there is one to read

    read_address(text)
    return text


NODE_URL = OptionKind("URL", "http(s)://HOST:PORT", "http://127.0.0.1:8100", refusing(OperatorError, _node_url), str)


def _snapshot_place(text: str) -> str:
    read_snapshot_place(text)
    return text


SNAPSHOT_PLACE = OptionKind(
    "PLACE", "HOST:PORT, or a path with a /", "127.0.0.1:8092", refusing(OperatorError, _snapshot_place), str
)

SHADOW = declaration.OptionSection(
    "shadow",
    "Another node, a vizd or ours, that this one is compared with as long as both run; docs/shadow.md.",
    ShadowSettings,
    (
        declaration.our_option(
            "shadow",
            NODE_URL,
            "Ask this node and that one the same, at each block, after each round, and slowly all else. "
            "What differs is written to the folder shadow of the data directory.",
            field="url",
        ),
        declaration.our_option(
            "shadow-rate",
            uint32(raised_to=LEAST_RATE),
            "Requests a second to each of both.",
            default=str(DEFAULT_RATE),
        ),
        declaration.our_option(
            "shadow-processor",
            uint32(raised_to=1),
            "Percent of one core that the comparison takes at most.",
            default=str(DEFAULT_PROCESSOR),
        ),
        declaration.our_option(
            "shadow-snapshots",
            SNAPSHOT_PLACE,
            "Compare the snapshots of that node, record by record: where it serves them, or the folder on this machine "
            "where it writes them.",
            field="snapshots",
        ),
        declaration.our_option(
            "shadow-snapshots-hours",
            uint32(raised_to=1),
            "Hours between two of them.",
            default=str(DEFAULT_SNAPSHOT_HOURS),
        ),
        declaration.our_option(
            "shadow-snapshots-most-mib",
            uint32(raised_to=1),
            "MiB that a snapshot of it may have.",
            default=str(DEFAULT_SNAPSHOT_MIB),
        ),
        declaration.our_option(
            "shadow-required",
            BOOL,
            "Sign a block only where the other node was found equal at the head: no block without it, and none after a "
            "difference. `ledgerd shadow override` lifts it for some hours.",
            default="false",
        ),
        declaration.our_option(
            "shadow-most-behind",
            UINT32,
            "Blocks by which the head may be above the last one that was found equal, for a block to be signed.",
            default="0",
        ),
    ),
    prefixes=("shadow-",),
)


class MetricsSettings(msgspec.Struct, frozen=True):
    """The options of the metrics; without an endpoint nothing is counted."""

    endpoint: Endpoint | None


METRICS = declaration.OptionSection(
    "metrics",
    "Numbers on the node for Prometheus; docs/metrics.md lists them.",
    MetricsSettings,
    (
        declaration.our_option(
            "metrics-endpoint",
            ENDPOINT,
            "The host and port to serve GET /metrics on. Without it, nothing is counted. Whoever reaches it can read "
            "how the node is: keep it on this machine, or within a network of your own.",
            example="127.0.0.1:9190",
        ),
    ),
    prefixes=("metrics-",),
)

MOST_WATCHED = 64
"""The most validators that are watched: each has metrics series of its own."""


class MonitorSettings(msgspec.Struct, frozen=True):
    """The validators whose slots are followed."""

    names: tuple[AccountName, ...] = ()


def _complete_monitor(record: MonitorSettings, _context: declaration.SectionContext) -> MonitorSettings:
    names = tuple(dict.fromkeys(record.names))
    if len(names) > MOST_WATCHED:
        raise declaration.WrongTogether(
            "validator-monitor", f"{len(names)} validators are named, and {MOST_WATCHED} are the most"
        )
    return MonitorSettings(names)


VALIDATOR_MONITOR = declaration.OptionSection(
    "validator_monitor",
    "Watches the slots of validators, on any node.",
    MonitorSettings,
    (
        declaration.our_option(
            "validator-monitor",
            NAME,
            "The name of a validator whose slots are told in the log: made and how late, or missed and why.",
            repeatable=True,
            field="names",
        ),
    ),
    complete=_complete_monitor,
)
