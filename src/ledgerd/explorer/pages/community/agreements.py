"""What people ask of each other: requests to the committee, invites, proposals, and paid subscriptions."""

from __future__ import annotations

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.lists import OF_A_PAGE, beside, existing, of_status, operations_of
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, name_in, needed

ROUTES = PageFamily()
COMMITTEE_STATUSES = ("open", "cancelled", "unheard", "refused", "paying", "paid")
"""The names of statuses, by their numbers (spec 02, section 10)."""
INVITE_STATUSES = ("unused", "claimed", "registered", "staked")
"""The names of statuses, by their numbers (spec 02, section 3)."""
PROPOSAL_TYPES = ["proposal_create", "proposal_update", "proposal_delete"]
MOST_INVITES = 0x7FFF_FFFF_FFFF_FFFF
"""The highest number that an invite may have."""
VOTES_SHOWN = MOST_PROPOSALS = 100
SUBSCRIBERS = 100
"""Subscribers on one page."""


@ROUTES.page("/committee")
async def committee(visit: Visit) -> PageAnswer:
    facts = await of_status(
        visit,
        COMMITTEE_STATUSES,
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
        "state": COMMITTEE_STATUSES[record["status"]] if record["status"] < len(COMMITTEE_STATUSES) else "open",
        "votes": votes,
        **beside(visit, "skip", skipped, VOTES_SHOWN, has_more=skipped + VOTES_SHOWN < len(record["votes"])),
    }
    return PageView("request.html", facts)


@ROUTES.page("/invites")
async def invites(visit: Visit) -> PageAnswer:
    facts = await of_status(
        visit,
        INVITE_STATUSES,
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
    return PageView(
        "invite.html", {"record": record, "state": INVITE_STATUSES[record["status"] % len(INVITE_STATUSES)]}
    )


@ROUTES.page("/proposals")
async def proposals(visit: Visit) -> PageAnswer:
    return PageView("proposals.html", await operations_of(visit, PROPOSAL_TYPES))


@ROUTES.page("/proposal/(?P<author>[^/]+)/(?P<title>.+)")
async def proposal(visit: Visit) -> PageAnswer:
    author, title = name_in(visit.parts["author"]), visit.parts["title"]
    found, created = await visit.node.ask(
        NodeCall("database_api", "get_proposed_transactions", (author, 1, MOST_PROPOSALS)),
        NodeCall(
            "history_api", "get_account_operations", (author, {"types": PROPOSAL_TYPES}, "newest", MOST_PROPOSALS)
        ),
    )
    waiting = [each for each in needed(found) if each["author"] == author and each["title"] == title]
    past = [] if isinstance(created, ErrorAnswer) else [each[1] for each in reversed(created["entries"])]
    same = [each for each in past if each["op"][1]["author"] == author and each["op"][1]["title"] == title]
    if not waiting and not same:
        raise NotThere("fault.proposal", title)
    return PageView(
        "proposal.html", {"author": author, "name": title, "record": waiting[0] if waiting else None, "rows": same}
    )


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
    subscribers, links = visit.part_of("skip", record["active_subscribers"], SUBSCRIBERS)
    renewing = frozenset(record["active_subscribers_with_auto_renewal"])
    facts = {"record": record, "subscribers": subscribers, "renewing": renewing, "beside": links}
    return PageView("subscription.html", facts)
