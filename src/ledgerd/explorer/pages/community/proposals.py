"""Proposals: transactions that wait for the approvals of several, as the history tells of them."""

from __future__ import annotations

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.lists import operations_of
from ledgerd.explorer.pages.view import NotThere, PageAnswer, PageFamily, PageView, Visit, name_in, needed

ROUTES = PageFamily()
TYPES = ["proposal_create", "proposal_update", "proposal_delete"]
MOST = 100


@ROUTES.page("/proposals")
async def proposals(visit: Visit) -> PageAnswer:
    return PageView("proposals.html", await operations_of(visit, TYPES))


@ROUTES.page("/proposal/(?P<author>[^/]+)/(?P<title>.+)")
async def proposal(visit: Visit) -> PageAnswer:
    author, title = name_in(visit.parts["author"]), visit.parts["title"]
    found, created = await visit.node.ask(
        NodeCall("database_api", "get_proposed_transactions", (author, 1, MOST)),
        NodeCall("history_api", "get_account_operations", (author, {"types": TYPES}, "newest", MOST)),
    )
    waiting = [each for each in needed(found) if each["author"] == author and each["title"] == title]
    past = [] if isinstance(created, ErrorAnswer) else [each[1] for each in reversed(created["entries"])]
    own = [each for each in past if each["op"][1]["author"] == author and each["op"][1]["title"] == title]
    if not waiting and not own:
        raise NotThere("fault.proposal", title)
    return PageView(
        "proposal.html", {"author": author, "name": title, "record": waiting[0] if waiting else None, "rows": own}
    )
