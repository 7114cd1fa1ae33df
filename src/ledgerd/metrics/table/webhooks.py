"""Metrics of webhooks, each by its place among the options."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, gauge

MOST_WEBHOOKS = 8
"""Webhooks of a node."""

WEBHOOK = MetricLabel("webhook", tuple(str(place) for place in range(1, MOST_WEBHOOKS + 1)))

WEBHOOK_BEHIND = gauge("ledgerd_webhook_behind_blocks", "Blocks that wait for the receiver of a webhook.", WEBHOOK)
WEBHOOK_MOST_BEHIND = gauge(
    "ledgerd_webhook_most_behind_blocks", "Blocks that may wait for the receiver of a webhook before it ends.", WEBHOOK
)
WEBHOOK_FAILURES = gauge(
    "ledgerd_webhook_failures", "Attempts in a row that the receiver of a webhook has not taken.", WEBHOOK
)
WEBHOOK_ENDED = gauge("ledgerd_webhook_ended", "1 where a webhook has ended, as too much waited for it.", WEBHOOK)
