"""The options of the processes that a node runs beside itself: webhooks, the stream for replicas, and the explorer."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.explorer.settings import ExplorerOptions
from ledgerd.history.webhooks.settings import MOST_BEHIND, Webhook, WebhookFault, WebhookSettings
from ledgerd.metrics.table.webhooks import MOST_WEBHOOKS
from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings, WrongTogether
from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import PATH, uint32
from ledgerd.producer.signer_place import PlaceFault, SignerPlace
from ledgerd.replica.settings import StreamSettings, read_stream_place

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


def _complete_webhooks(record: WebhookSettings, _surroundings: Surroundings) -> WebhookSettings:
    if len(record.hooks) > MOST_WEBHOOKS:
        raise WrongTogether("history-webhook", f"is given {len(record.hooks)} times: {MOST_WEBHOOKS} are allowed")
    return record


WEBHOOK = OptionKind(
    "URL", "http(s)://HOST[:PORT]/PATH secret=FILE, and a filter behind it", HOOK_EXAMPLE, _read_webhook, _show_webhook
)

WEBHOOKS = OptionSection(
    "webhooks",
    "Where operations of the history are sent; the plugin operation_history records them.",
    WebhookSettings,
    (
        Option(
            "history-webhook",
            WEBHOOK,
            "Send operations there, signed with the secret of a file; types=, accounts=, direction=, reversible= and "
            "start= may stand behind it.",
            repeatable=True,
            ours=True,
            field="hooks",
        ),
        Option(
            "history-webhook-most-behind",
            uint32(raised_to=1),
            "Blocks that may wait for a receiver; the webhook ends when there are more.",
            default=str(MOST_BEHIND),
            ours=True,
            field="most_behind",
        ),
    ),
    complete=_complete_webhooks,
)

STREAM_ENDPOINT = "state-stream-endpoint"


def _read_place(text: str) -> SignerPlace:
    try:
        return read_stream_place(text)
    except PlaceFault as fault:
        raise WrongValue(str(fault)) from None


def _complete_stream(record: StreamSettings, surroundings: Surroundings) -> StreamSettings:
    if record.fault:
        raise WrongTogether(STREAM_ENDPOINT, record.fault)
    given = {name: getattr(record, name) for name in ("certificate", "certificate_key", "authority")}
    return replace(record, **{name: surroundings.data_dir / path for name, path in given.items() if path is not None})


def _show_place(place: SignerPlace) -> str:
    return str(StreamSettings(place))


STREAM_PLACE = OptionKind("PLACE", "unix:/PATH or tcp://HOST:PORT", "tcp://127.0.0.1:8095", _read_place, _show_place)

STATE_STREAM = OptionSection(
    "state_stream",
    "Changes of the state, for replicas (ledgerd api --follow) on this machine or others; docs/replicas.md.",
    StreamSettings,
    (
        Option(
            STREAM_ENDPOINT,
            STREAM_PLACE,
            "Send the changes of every commit there. Without certificates it is a Unix socket or an address of this "
            "machine; with them, both sides show one. Off by default: then nothing is kept or computed for it.",
            ours=True,
            field="place",
        ),
        Option(
            "state-stream-certificate",
            PATH,
            "The certificate that this node shows to replicas, relative to the data directory.",
            ours=True,
            example="stream.pem",
            field="certificate",
        ),
        Option(
            "state-stream-certificate-key",
            PATH,
            "The key of that certificate. Only its owner should be able to read it.",
            ours=True,
            example="stream.key",
            field="certificate_key",
        ),
        Option(
            "state-stream-authority",
            PATH,
            "The certificate that replicas must show, or that of the authority which has signed it.",
            ours=True,
            example="replicas.pem",
            field="authority",
        ),
    ),
    complete=_complete_stream,
)

EXPLORER = OptionSection(
    "explorer",
    "Pages about the chain for people, from a process of its own; docs/explorer.md says what is on them.",
    ExplorerOptions,
    (
        Option(
            "explorer-endpoint",
            ENDPOINT,
            "The host and port to serve the pages on. Without it, there are none. Each visitor may have so much, and "
            "they ask the node as any client does.",
            example="127.0.0.1:8093",
            ours=True,
        ),
        Option(
            "explorer-trusted-proxies",
            NETWORK,
            "Trusted proxies in front of the explorer, besides this machine: only from these, X-Forwarded-For names "
            "the visitor.",
            repeatable=True,
            words=True,
            ours=True,
        ),
    ),
    prefixes=("explorer-",),
)
