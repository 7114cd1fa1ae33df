"""Paid subscriptions: who offers one, and who pays for it."""

from __future__ import annotations

from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages.lists import OF_A_PAGE, beside, existing
from ledgerd.explorer.pages.view import PageAnswer, PageFamily, PageView, Visit, name_in

ROUTES = PageFamily()
SUBSCRIBERS = 100


@ROUTES.page("/subscriptions")
async def subscriptions(visit: Visit) -> PageAnswer:
    skipped = visit.number("skip", 1_000_000) or 0
    rows = await visit.one("paid_subscription_api", "get_paid_subscriptions", skipped, OF_A_PAGE)
    links = beside(visit, "skip", skipped, OF_A_PAGE, has_more=len(rows) == OF_A_PAGE)
    return PageView("subscriptions.html", {"rows": rows, **links})


@ROUTES.page("/subscription/(?P<name>[^/]+)")
async def subscription(visit: Visit) -> PageAnswer:
    name = name_in(visit.parts["name"])
    (found,) = await visit.node.ask(NodeCall("paid_subscription_api", "get_paid_subscription_options", (name,)))
    record = existing(found, "fault.subscription", name)
    subscribers, beside = visit.part_of("skip", record["active_subscribers"], SUBSCRIBERS)
    renewing = frozenset(record["active_subscribers_with_auto_renewal"])
    facts = {"record": record, "subscribers": subscribers, "renewing": renewing, "beside": beside}
    return PageView("subscription.html", facts)
