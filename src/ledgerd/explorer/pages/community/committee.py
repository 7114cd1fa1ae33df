"""Requests to the committee, and how people vote on them."""

from __future__ import annotations

from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages.lists import beside, existing, of_status
from ledgerd.explorer.pages.view import PageAnswer, PageFamily, PageView, Visit

ROUTES = PageFamily()
STATUSES = ("open", "cancelled", "unheard", "refused", "paying", "paid")
"""By their numbers (spec 02, section 10)."""
VOTES_SHOWN = 100


@ROUTES.page("/committee")
async def committee(visit: Visit) -> PageAnswer:
    facts = await of_status(
        visit,
        STATUSES,
        lambda status: NodeCall("committee_api", "get_committee_requests_list", (status,)),
        lambda number: NodeCall("committee_api", "get_committee_request", (number, 0)),
    )
    return PageView("committee.html", {**facts, "fund": visit.watch.properties["committee_fund"]})


@ROUTES.page("/committee/(?P<number>[^/]+)")
async def request(visit: Visit) -> PageAnswer:
    number = visit.part("number")
    skipped = visit.number("skip", 1_000_000) or 0
    (found,) = await visit.node.ask(NodeCall("committee_api", "get_committee_request", (number, -1)))
    record = existing(found, "fault.request", number)
    votes = record["votes"][skipped : skipped + VOTES_SHOWN]
    facts = {
        "record": record,
        "state": STATUSES[record["status"]] if record["status"] < len(STATUSES) else "open",
        "votes": votes,
        **beside(visit, "skip", skipped, VOTES_SHOWN, has_more=skipped + VOTES_SHOWN < len(record["votes"])),
    }
    return PageView("request.html", facts)
