"""Accounts: what one has, what it did, who acts for it, whom it backs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages import view
from ledgerd.explorer.pages.lists import beside, links_of
from ledgerd.explorer.pages.people.history import DIRECTIONS, GROUPS, chosen, history_call, page_call, page_in
from ledgerd.explorer.pages.people.statement import statement
from ledgerd.explorer.words.numbers import units_of
from ledgerd.explorer.words.times import seconds_of

ROUTES = view.PageFamily()
NAMES_OF_A_PAGE = 100
ROWS = 100
MOST_RETURNING = 1_000
"""Delegations that come back: the node tells of no more."""


@ROUTES.page("/accounts")
async def accounts(visit: view.Visit) -> view.PageAnswer:
    first = view.name_in(visit.text("from")) if visit.text("from") else ""
    names, count = await visit.ask(
        NodeCall("database_api", "lookup_accounts", (first, NAMES_OF_A_PAGE + 1)),
        NodeCall("database_api", "get_account_count"),
    )
    older = visit.link(**{"from": names[-1]}) if len(names) > NAMES_OF_A_PAGE else ""
    facts = {
        "names": names[:NAMES_OF_A_PAGE],
        "count": count,
        "older": older,
        "newer": "",
        "newest": visit.link(**{"from": ""}) if first else "",
        "start": first,
    }
    return view.PageView("accounts.html", facts)


@ROUTES.page("/account/(?P<name>[^/]+)")
async def account(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    choice, cursor = chosen(visit), visit.cursor()
    found, validator, page = await visit.node.ask(
        NodeCall("database_api", "get_accounts", ([name],)),
        NodeCall("validator_api", "get_validator_by_account", (name,)),
        page_call(name, choice, cursor),
    )
    record = _only(view.needed(found), name)
    has_history = not isinstance(page, ErrorAnswer)
    shown = page_in(page, cursor) if has_history else {"entries": []}
    facts = {
        **_common(visit, record, "activity"),
        "validator": view.optional(validator),
        "has_history": has_history,
        "rows": [each[1] for each in reversed(shown["entries"])],
        "choice": choice,
        "groups": tuple(GROUPS),
        "directions": DIRECTIONS,
        "csv": visit.link(cursor="").replace(visit.path, f"/account/{name}/statement.csv", 1),
        **(links_of(visit, shown, shown["entries"]) if has_history else {"older": "", "newer": "", "newest": ""}),
    }
    return view.PageView("account.html", facts)


def _only(found: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    if not found:
        raise view.NotThere("fault.account", name)
    record: Mapping[str, Any] = found[0]
    return record


def _common(visit: view.Visit, record: Mapping[str, Any], tab: str) -> dict[str, Any]:
    properties, shares = visit.watch.properties, units_of(record["vesting_shares"])
    effective = shares - units_of(record["delegated_vesting_shares"]) + units_of(record["received_vesting_shares"])
    total = units_of(properties["total_vesting_shares"])
    fund = units_of(properties["total_vesting_fund"])
    return {
        "record": record,
        "name": record["name"],
        "tab": tab,
        "own_shares": shares,
        "effective": effective,
        "worth": effective * fund // total if total else 0,
        "part": (effective, total),
        "energy": energy_now(record, visit.watch.config, visit.now),
    }


def energy_now(record: Mapping[str, Any], config: Mapping[str, Any], now: float) -> int:
    """The energy that an account has by now: it comes back by itself."""
    whole_after = int(config.get("CHAIN_ENERGY_REGENERATION_SECONDS", 432_000))
    passed = max(0, int(now) - seconds_of(record["last_vote_time"]))
    return min(HUNDRED_PERCENT, int(record["energy"]) + passed * HUNDRED_PERCENT // whole_after)


@ROUTES.page("/account/(?P<name>[^/]+)/rights")
async def rights(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    start = visit.number("from", 0x7FFF_FFFF_FFFF_FFFF) or 0
    found, agents, former, recovery = await visit.node.ask(
        NodeCall("database_api", "get_accounts", ([name],)),
        NodeCall("database_api", "get_agent_permissions", (name,)),
        NodeCall("database_api", "get_key_history", (name, start, ROWS)),
        NodeCall("database_api", "get_recovery_request", (name,)),
    )
    record = _only(view.needed(found), name)
    rows = view.optional(former) or []
    facts = {
        **_common(visit, record, "rights"),
        "agents": view.optional(agents) or [],
        "former": rows,
        "recovery": view.optional(recovery),
        "older": visit.link(**{"from": rows[-1]["id"] + 1}) if len(rows) == ROWS else "",
        "newer": "",
        "newest": visit.link(**{"from": ""}) if start else "",
    }
    return view.PageView("account_rights.html", facts)


@ROUTES.page("/account/(?P<name>[^/]+)/shares")
async def shares(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    given, taken = (visit.text(each) for each in ("given", "taken"))
    for each in (given, taken):
        if each:
            view.name_in(each)
    found, lent, borrowed, expiring, routes = await visit.node.ask(
        NodeCall("database_api", "get_accounts", ([name],)),
        NodeCall("database_api", "get_vesting_delegations", (name, given, ROWS, "delegated")),
        NodeCall("database_api", "get_vesting_delegations", (name, taken, ROWS, "received")),
        NodeCall("database_api", "get_expiring_vesting_delegations", (name, "1970-01-01T00:00:00", MOST_RETURNING)),
        NodeCall("database_api", "get_withdraw_routes", (name, "all")),
    )
    record = _only(view.needed(found), name)
    lent, borrowed, expiring, routes = (view.needed(each) for each in (lent, borrowed, expiring, routes))
    returning, beside_returning = visit.part_of("returning", expiring, ROWS)
    facts = {
        **_common(visit, record, "shares"),
        "lent": lent,
        "borrowed": borrowed,
        "expiring": returning,
        "beside_returning": beside_returning,
        "routes": routes,
        "more_lent": visit.link(given=lent[-1]["delegatee"]) if len(lent) == ROWS else "",
        "more_borrowed": visit.link(taken=borrowed[-1]["delegator"]) if len(borrowed) == ROWS else "",
    }
    return view.PageView("account_shares.html", facts)


@ROUTES.page("/account/(?P<name>[^/]+)/bets")
async def bets(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    skipped, levers, opened = (visit.number(each, view.MOST_SKIPPED) or 0 for each in ("skip", "levers", "opened"))
    limit = 25
    api = "prediction_market_api"
    found, positions, leverage, deposit, commits, oracle, created = await visit.node.ask(
        NodeCall("database_api", "get_accounts", ([name],)),
        NodeCall(api, "get_account_positions", (name, skipped, limit)),
        NodeCall(api, "get_account_leverage_positions", (name, levers, limit)),
        NodeCall(api, "get_lazy_deposit", (name,)),
        NodeCall(api, "get_account_commits", (name, True)),
        NodeCall(api, "get_oracle", (name,)),
        NodeCall(api, "list_markets_by_creator", (name, opened, limit)),
    )
    record = _only(view.needed(found), name)
    hidden, beside_hidden = visit.part_of("hidden", view.optional(commits) or [], limit)
    facts = {
        **_common(visit, record, "bets"),
        "positions": view.needed(positions),
        "leverage": view.needed(leverage),
        "deposit": view.optional(deposit),
        "commits": hidden,
        "beside_hidden": beside_hidden,
        "oracle": view.optional(oracle),
        "created": view.needed(created),
        "beside_levers": visit.beside("levers", leverage, limit),
        "beside_opened": visit.beside("opened", created, limit),
        **beside(visit, "skip", skipped, limit, has_more=len(positions) == limit),
    }
    return view.PageView("account_bets.html", facts)


@ROUTES.page("/account/(?P<name>[^/]+)/agreements")
async def agreements(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    start, limit = visit.number("from") or 1, 25
    found, proposals, active, ended, offer = await visit.node.ask(
        NodeCall("database_api", "get_accounts", ([name],)),
        NodeCall("database_api", "get_proposed_transactions", (name, start, limit)),
        NodeCall("paid_subscription_api", "get_active_paid_subscriptions", (name,)),
        NodeCall("paid_subscription_api", "get_inactive_paid_subscriptions", (name,)),
        NodeCall("paid_subscription_api", "get_paid_subscription_options", (name,)),
    )
    record = _only(view.needed(found), name)
    rows = view.needed(proposals)
    pays, beside_pays = visit.part_of("pays", view.optional(active) or [], NAMES_OF_A_PAGE)
    paid, beside_paid = visit.part_of("paid", view.optional(ended) or [], NAMES_OF_A_PAGE)
    facts = {
        **_common(visit, record, "agreements"),
        "proposals": rows,
        "active": pays,
        "beside_active": beside_pays,
        "ended": paid,
        "beside_ended": beside_paid,
        "offer": view.optional(offer),
        "older": visit.link(**{"from": start + limit}) if len(rows) == limit else "",
        "newer": visit.link(**{"from": max(1, start - limit)}) if start > 1 else "",
    }
    return view.PageView("account_agreements.html", facts)


@ROUTES.page("/account/(?P<name>[^/]+)/statement.csv")
async def csv(visit: view.Visit) -> view.PageAnswer:
    name = view.name_in(visit.parts["name"])
    choice = chosen(visit)
    found, _ = await visit.ask(
        NodeCall("database_api", "lookup_account_names", ([name],)), history_call(name, choice, "oldest", 1)
    )
    if not found or found[0] is None:
        raise view.NotThere("fault.account", name)
    return view.FileDownload(f"{name}.csv", statement(visit, name, choice))
