"""Invites: tokens that wait for whoever has the secret of a key."""

from __future__ import annotations

from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages.lists import existing, of_status
from ledgerd.explorer.pages.view import PageAnswer, PageFamily, PageView, Visit

ROUTES = PageFamily()
MOST_INVITES = 0x7FFF_FFFF_FFFF_FFFF
STATUSES = ("unused", "claimed", "registered", "staked")
"""By their numbers (spec 02, section 3)."""


@ROUTES.page("/invites")
async def invites(visit: Visit) -> PageAnswer:
    facts = await of_status(
        visit,
        STATUSES,
        lambda status: NodeCall("invite_api", "get_invites_list", (status,)),
        lambda number: NodeCall("invite_api", "get_invite_by_id", (number,)),
        MOST_INVITES,
    )
    return PageView("invites.html", facts)


@ROUTES.page("/invite/(?P<number>[^/]+)")
async def invite(visit: Visit) -> PageAnswer:
    number = visit.part("number", MOST_INVITES)
    (found,) = await visit.node.ask(NodeCall("invite_api", "get_invite_by_id", (number,)))
    record = existing(found, "fault.invite", number)
    return PageView("invite.html", {"record": record, "state": STATUSES[record["status"] % len(STATUSES)]})
