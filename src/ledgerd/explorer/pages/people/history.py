"""The history of an account as it is looked for: the filter of a visit, and the node's page that passes it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ledgerd.basics.durations import DAY
from ledgerd.client.envelope import NodeCall
from ledgerd.explorer.pages.view import BadQuery, Visit
from ledgerd.explorer.words.times import seconds_of, text_of
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of

NAMES = tuple(name_of(each) for each in OPERATIONS)

GROUPS: dict[str, tuple[str, ...]] = {
    "all": (),
    "transfers": ("transfer", "escrow_transfer", "escrow_release", "expire_escrow_ratification"),
    "rewards": tuple(each for each in NAMES if each.endswith(("award", "_reward"))),
    "shares": (
        "transfer_to_vesting", "withdraw_vesting", "fill_vesting_withdraw", "set_withdraw_vesting_route",
        "delegate_vesting_shares", "return_vesting_delegation",
    ),
    "votes": (
        "account_validator_vote", "account_validator_proxy", "committee_vote_request", "proposal_update",
        "chain_properties_update", "versioned_chain_properties_update", "vote",
    ),
    "committee": tuple(each for each in NAMES if each.startswith("committee_")),
    "markets": tuple(each for each in NAMES if each.startswith("pm_")),
    "accounts": (
        "account_create", "account_update", "account_metadata", "set_agent_permission", "request_account_recovery",
        "recover_account", "change_recovery_account", "create_invite", "claim_invite_balance", "invite_registration",
        "use_invite_balance", "set_account_price", "set_subaccount_price", "target_account_sale", "buy_account",
        "account_sale", "bid", "outbid",
    ),
    "paid": tuple(each for each in NAMES if "paid_" in each),
    "data": ("custom", "content", "delete_content"),
}  # fmt: skip

DIRECTIONS = ("any", "outgoing", "incoming")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
OF_A_PAGE = 25


class Chosen(NamedTuple):
    """A filter, as a visitor chose it."""

    group: str
    direction: str
    since: str
    until: str
    filter: dict[str, Any]


def chosen(visit: Visit) -> Chosen:
    group = visit.chosen("show", (*GROUPS, *NAMES))
    direction = visit.chosen("direction", DIRECTIONS)
    since, until = _day(visit.text("since")), _day(visit.text("until"))
    found: dict[str, Any] = {}
    if group != "all":
        found["types"] = list(GROUPS.get(group, (group,)))
    if direction != "any":
        found["direction"] = direction
    if since:
        found["since"] = text_of(since)
    if until:
        found["until"] = text_of(until + DAY)
    return Chosen(group, direction, visit.text("since"), visit.text("until"), found)


def _day(text: str) -> int:
    if not text:
        return 0
    seconds = seconds_of(f"{text}T00:00:00") if DATE.fullmatch(text) else 0
    if not 0 < seconds < 0xFFFF_FFFF - DAY:
        raise BadQuery("fault.date", text)
    return seconds


def history_call(name: str, choice: Chosen, cursor: str, limit: int = OF_A_PAGE) -> NodeCall:
    return NodeCall("history_api", "get_account_operations", (name, choice.filter, cursor, limit))


def page_call(name: str, choice: Chosen, cursor: str) -> NodeCall:
    """The request for what a page shows. Without a filter the plain history is asked for, which costs a fifth."""
    if choice.filter or not cursor.startswith(("newest", "before:")):
        return history_call(name, choice, cursor)
    before = cursor.partition(":")[2]
    last = int(before) - 1 if before else -1
    limit = OF_A_PAGE - 1  # one more comes (spec 05, section 13.2)
    return NodeCall("account_history", "get_account_history", (name, last, limit if last < 0 else min(limit, last)))


def page_in(answer: Any, cursor: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(answer, list):
        page: dict[str, Any] = answer
        return page
    if not answer or cursor == "before:0":
        return {"entries": []}
    first, last = answer[0][0], answer[-1][0]
    return {"entries": answer, "older": f"before:{first}" if first else "", "newer": f"after:{last}"}
