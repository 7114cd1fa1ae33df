"""Invites: tokens that wait for whoever has the secret of a key."""

from __future__ import annotations

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, needed

ROUTES = PageFamily()
OF_A_PAGE = 25
STATUSES = ("unused", "claimed", "registered", "staked")
"""By their numbers (spec 02, section 3)."""


@ROUTES.page("/invites")
async def invites(visit: Visit) -> PageAnswer:
    status = visit.chosen("status", STATUSES)
    before = visit.number("before", 0x7FFF_FFFF_FFFF_FFFF)
    lists = await visit.ask(*(NodeCall("invite_api", "get_invites_list", (number,)) for number in range(len(STATUSES))))
    numbers = sorted(lists[STATUSES.index(status)], reverse=True)
    below = [each for each in numbers if before is None or each < before]
    found = await visit.ask(*(NodeCall("invite_api", "get_invite_by_id", (each,)) for each in below[:OF_A_PAGE]))
    facts = {
        "rows": found,
        "status": status,
        "statuses": [(name, len(each)) for name, each in zip(STATUSES, lists, strict=True)],
        "older": visit.link(before=below[OF_A_PAGE - 1]) if len(below) > OF_A_PAGE else "",
        "newer": "",
        "newest": visit.link(before="") if before is not None else "",
    }
    return PageView("invites.html", facts)


@ROUTES.page("/invite/(?P<number>[^/]+)")
async def invite(visit: Visit) -> PageAnswer:
    number = visit.part("number", 0x7FFF_FFFF_FFFF_FFFF)
    (found,) = await visit.node.ask(NodeCall("invite_api", "get_invite_by_id", (number,)))
    if found is None or (isinstance(found, ErrorAnswer) and not found.is_missing):
        raise NotThere("fault.invite", number)
    record = needed(found)
    return PageView("invite.html", {"record": record, "state": STATUSES[record["status"] % len(STATUSES)]})
