"""The options of webhooks, which send operations of the history to programs of the operator."""

from __future__ import annotations

from ledgerd.history.webhooks.settings import MOST_BEHIND, Webhook, WebhookFault, WebhookSettings
from ledgerd.metrics.table.webhooks import MOST_WEBHOOKS
from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings, WrongTogether
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import uint32

EXAMPLE = "https://shop.example/viz secret=/etc/ledgerd/webhook.secret types=transfer accounts=shop direction=incoming"


def _read(text: str) -> Webhook:
    from ledgerd.history.webhooks.reading import read_webhook  # noqa: PLC0415 - loaded when there is one to read

    try:
        return read_webhook(text)
    except WebhookFault as fault:
        raise WrongValue(str(fault)) from None


def _show(hook: Webhook) -> str:
    from ledgerd.history.webhooks.reading import written_webhook  # noqa: PLC0415 - as above

    return written_webhook(hook)


def _complete(record: WebhookSettings, _surroundings: Surroundings) -> WebhookSettings:
    if len(record.hooks) > MOST_WEBHOOKS:
        raise WrongTogether("history-webhook", f"is given {len(record.hooks)} times: {MOST_WEBHOOKS} are allowed")
    return record


WEBHOOK = OptionKind("URL", "http(s)://HOST[:PORT]/PATH secret=FILE, and a filter behind it", EXAMPLE, _read, _show)

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
    complete=_complete,
)
