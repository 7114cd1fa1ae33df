"""Paid subscriptions: who offers one, and who pays for it."""

from __future__ import annotations

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, name_in, needed

ROUTES = PageFamily()
OF_A_PAGE = 25
SUBSCRIBERS = 100


@ROUTES.page("/subscriptions")
async def subscriptions(visit: Visit) -> PageAnswer:
    skipped = visit.number("skip", 1_000_000) or 0
    rows = await visit.one("paid_subscription_api", "get_paid_subscriptions", skipped, OF_A_PAGE)
    facts = {
        "rows": rows,
        "older": visit.link(skip=skipped + OF_A_PAGE) if len(rows) == OF_A_PAGE else "",
        "newer": visit.link(skip=max(0, skipped - OF_A_PAGE) or "") if skipped else "",
    }
    return PageView("subscriptions.html", facts)


@ROUTES.page("/subscription/(?P<name>[^/]+)")
async def subscription(visit: Visit) -> PageAnswer:
    name = name_in(visit.parts["name"])
    (found,) = await visit.node.ask(NodeCall("paid_subscription_api", "get_paid_subscription_options", (name,)))
    if found is None or (isinstance(found, ErrorAnswer) and not found.is_missing):
        raise NotThere("fault.subscription", name)
    record = needed(found)
    subscribers, beside = visit.part_of("skip", record["active_subscribers"], SUBSCRIBERS)
    renewing = frozenset(record["active_subscribers_with_auto_renewal"])
    facts = {"record": record, "subscribers": subscribers, "renewing": renewing, "beside": beside}
    return PageView("subscription.html", facts)
