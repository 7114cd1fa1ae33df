"""Requests to the committee, and how people vote on them."""

from __future__ import annotations

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, needed

ROUTES = PageFamily()
OF_A_PAGE = 25
STATUSES = ("open", "cancelled", "unheard", "refused", "paying", "paid")
"""By their numbers (spec 02, section 10)."""
VOTES_SHOWN = 100


@ROUTES.page("/committee")
async def committee(visit: Visit) -> PageAnswer:
    status = visit.chosen("status", STATUSES)
    before = visit.number("before")
    lists = await visit.ask(
        *(NodeCall("committee_api", "get_committee_requests_list", (number,)) for number in range(len(STATUSES)))
    )
    numbers = sorted(lists[STATUSES.index(status)], reverse=True)
    below = [each for each in numbers if before is None or each < before]
    rows = await visit.ask(
        *(NodeCall("committee_api", "get_committee_request", (each, 0)) for each in below[:OF_A_PAGE])
    )
    facts = {
        "rows": rows,
        "status": status,
        "statuses": [(name, len(found)) for name, found in zip(STATUSES, lists, strict=True)],
        "fund": visit.watch.properties["committee_fund"],
        "older": visit.link(before=below[OF_A_PAGE - 1]) if len(below) > OF_A_PAGE else "",
        "newer": "",
        "newest": visit.link(before="") if before is not None else "",
    }
    return PageView("committee.html", facts)


@ROUTES.page("/committee/(?P<number>[^/]+)")
async def request(visit: Visit) -> PageAnswer:
    number = visit.part("number")
    skipped = visit.number("skip", 1_000_000) or 0
    (found,) = await visit.node.ask(NodeCall("committee_api", "get_committee_request", (number, -1)))
    if found is None or (isinstance(found, ErrorAnswer) and not found.is_missing):
        raise NotThere("fault.request", number)
    record = needed(found)
    votes = record["votes"][skipped : skipped + VOTES_SHOWN]
    facts = {
        "record": record,
        "state": STATUSES[record["status"]] if record["status"] < len(STATUSES) else "open",
        "votes": votes,
        "older": visit.link(skip=skipped + VOTES_SHOWN) if skipped + VOTES_SHOWN < len(record["votes"]) else "",
        "newer": visit.link(skip=max(0, skipped - VOTES_SHOWN) or "") if skipped else "",
    }
    return PageView("request.html", facts)
