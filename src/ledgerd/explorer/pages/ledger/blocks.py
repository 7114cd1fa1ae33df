"""Blocks, as a list and one by one, and transactions."""

from __future__ import annotations

import re
from typing import Any

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.node.following import facts_of_blocks
from ledgerd.explorer.node.watch import BlockFacts
from ledgerd.explorer.pages.view import Away, BadQuery, NotThere, PageAnswer, PageFamily, PageView, Visit, needed

ROUTES = PageFamily()
OF_A_PAGE = 25
MOST_OPERATIONS = 50
"""Of a block that are shown as sentences at once; the rest is paged."""
MOST_IN_FULL = 20
"""Of a transaction that are shown with all their fields at once; the same."""
NO_TRANSACTION = "0" * 40
LAST_NUMBER = 0xFFFF_FFFF
HASH = re.compile("[0-9a-f]{40}")


@ROUTES.page("/blocks")
async def blocks(visit: Visit) -> PageAnswer:
    """Blocks, the newest first."""
    watch = visit.watch
    last = min(visit.number("before") or watch.head + 1, watch.head + 1) - 1
    if last < 1:
        raise NotThere("fault.block", visit.text("before"))
    first = max(1, last - OF_A_PAGE + 1)
    kept = [each for each in watch.blocks if first <= each.number <= last]
    rows = kept if len(kept) == last - first + 1 else await _asked(visit, first, last)
    facts = {
        "blocks": rows,
        "older": visit.link(before=first) if first > 1 else "",
        "newer": visit.link(before=min(last + OF_A_PAGE + 1, watch.head + 1)) if last < watch.head else "",
        "newest": visit.link(before="") if last < watch.head else "",
    }
    return PageView("blocks.html", facts)


async def _asked(visit: Visit, first: int, last: int) -> list[BlockFacts]:
    numbers = range(first, min(last + 1, visit.watch.head) + 1)
    found = await visit.ask(*(NodeCall("database_api", "get_block", (number,)) for number in numbers))
    raw = [(number, each) for number, each in zip(numbers, found, strict=True) if each is not None]
    rows = facts_of_blocks(raw, str(visit.watch.properties["head_block_id"]))
    return [each for each in reversed(rows) if each.number <= last]


@ROUTES.page("/block/(?P<id>[0-9a-f]{40})")
async def block_of_id(visit: Visit) -> PageAnswer:
    """A block by its id, which begins with its number."""
    identifier = visit.parts["id"]
    number = int(identifier[:8], 16)
    if number > visit.watch.head:
        raise NotThere("fault.block", identifier)
    following = await visit.one("database_api", "get_block_header", number + 1)
    properties = visit.watch.properties
    known = properties["head_block_id"] if following is None else following["previous"]
    if known != identifier:
        raise NotThere("fault.block", identifier)
    return Away(f"/block/{number}")


@ROUTES.page("/block/(?P<number>[^/]+)")
async def block(visit: Visit) -> PageAnswer:
    """A block and what happened in it."""
    number = visit.part("number")
    found, following, done = await visit.node.ask(
        NodeCall("database_api", "get_block", (number,)),
        NodeCall("database_api", "get_block_header", (min(number + 1, LAST_NUMBER),)),
        NodeCall("operation_history", "get_ops_in_block", (number, False)),
    )
    content = needed(found)
    if content is None:
        raise NotThere("fault.block", number)
    properties = visit.watch.properties
    following = needed(following)
    is_head = number == properties["head_block_number"]
    identifier = following["previous"] if following else properties["head_block_id"] if is_head else ""
    rows = _operations(number, content, done)
    start = visit.number("from") or 0
    facts = {
        "number": number,
        "block": content,
        "id": identifier,
        "is_irreversible": number <= properties["last_irreversible_block_num"],
        "transactions": len(content["transactions"]),
        "operations": rows[start : start + MOST_OPERATIONS],
        "count": len(rows),
        "virtual": sum(each["virtual_op"] > 0 for each in rows),
        "has_history": not isinstance(done, ErrorAnswer),
        "previous": number - 1,
        "next": 0 if following is None else number + 1,
        **_beside(visit, start, MOST_OPERATIONS, len(rows)),
    }
    return PageView("block.html", facts)


def _beside(visit: Visit, start: int, shown: int, count: int) -> dict[str, str]:
    """The addresses of the operations before and behind those that are shown."""
    return {
        "older": visit.link(**{"from": start + shown}) if start + shown < count else "",
        "newer": visit.link(**{"from": max(0, start - shown) or ""}) if start else "",
    }


def _operations(number: int, content: Any, done: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    """What the history tells, or else what the block itself has."""
    if not isinstance(done, ErrorAnswer):
        return list(done)
    return [
        {"op": each, "trx_id": NO_TRANSACTION, "trx_in_block": place, "virtual_op": 0, "block": number}
        for place, one in enumerate(content["transactions"])
        for each in one["operations"]
    ]


@ROUTES.page("/tx/(?P<id>[^/]+)")
async def transaction(visit: Visit) -> PageAnswer:
    """A transaction: what it did, who signed it, and what followed from it."""
    identifier = visit.parts["id"].lower()
    if not HASH.fullmatch(identifier) or identifier == NO_TRANSACTION:
        raise BadQuery("fault.hash", visit.parts["id"])
    (found,) = await visit.node.ask(NodeCall("operation_history", "get_transaction", (identifier,)))
    if isinstance(found, ErrorAnswer) and not found.is_missing:
        raise NotThere("fault.transaction", identifier)
    content = needed(found)
    number = content["block_num"]
    header, done = await visit.ask(
        NodeCall("database_api", "get_block_header", (number,)),
        NodeCall("operation_history", "get_ops_in_block", (number, True)),  # virtual ones alone
    )
    start = visit.number("from") or 0
    followed = [each for each in done if each["trx_id"] == identifier and each["virtual_op"]]
    facts = {
        "id": identifier,
        "transaction": content,
        "block_number": number,
        "time": header["timestamp"],
        "validator": header["validator"],
        "is_irreversible": number <= visit.watch.properties["last_irreversible_block_num"],
        "followed": followed[:MOST_OPERATIONS],
        "operations": content["operations"][start : start + MOST_IN_FULL],
        **_beside(visit, start, MOST_IN_FULL, len(content["operations"])),
    }
    return PageView("transaction.html", facts)
