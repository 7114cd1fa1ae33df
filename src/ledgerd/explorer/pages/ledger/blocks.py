"""Blocks, as a list and one by one, and transactions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.node.following import facts_of_blocks, facts_of_summary
from ledgerd.explorer.node.watch import BlockFacts
from ledgerd.explorer.pages.lists import beside
from ledgerd.explorer.pages.view import Away, BadQuery, NotThere, PageAnswer, PageFamily, PageView, Visit, needed
from ledgerd.explorer.words.values import NO_TRANSACTION
from ledgerd.protocol.types.identifiers import block_number_of_hex

ROUTES = PageFamily()
OF_A_PAGE = 25
MOST_OPERATIONS = 50
"""Operations of a block that are shown as sentences at once; the rest is paged."""
MOST_IN_FULL = 20
"""Operations of a transaction that are shown with all their fields at once; the rest is paged."""
LAST_NUMBER = 0xFFFF_FFFF
HASH = re.compile("[0-9a-f]{40}")


@ROUTES.page("/blocks")
async def blocks(visit: Visit) -> PageAnswer:
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
    if visit.watch.has_history:
        found: list[BlockFacts] = []
        while first <= last:  # an answer may end before the last of them
            answer = await visit.one("history_api", "get_blocks", first, last - first + 1)
            if not answer:
                break
            found += [facts_of_summary(each) for each in answer]
            first += len(answer)
        return found[::-1]
    numbers = range(first, min(last + 1, visit.watch.head) + 1)
    whole = await visit.ask(*(NodeCall("database_api", "get_block", (number,)) for number in numbers))
    raw = [(number, each) for number, each in zip(numbers, whole, strict=True) if each is not None]
    rows = facts_of_blocks(raw, str(visit.watch.properties["head_block_id"]))
    return [each for each in reversed(rows) if each.number <= last]


@ROUTES.page("/block/(?P<id>[0-9a-f]{40})")
async def block_of_id(visit: Visit) -> PageAnswer:
    identifier = visit.parts["id"]
    number = block_number_of_hex(identifier)
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
    number, start = visit.part("number"), visit.number("from") or 0
    found = await (_summed_up if visit.watch.has_history else _whole)(visit, number, start)
    if found is None:
        raise NotThere("fault.block", number)
    properties = visit.watch.properties
    facts = {
        **found._asdict(),
        "number": number,
        "is_irreversible": number <= properties["last_irreversible_block_num"],
        "has_history": visit.watch.has_history,
        "previous": number - 1,
        "next": number + 1 if number < properties["head_block_number"] else 0,
        **beside(visit, "from", start, MOST_OPERATIONS, has_more=start + MOST_OPERATIONS < found.total),
    }
    return PageView("block.html", facts)


class _ShownBlock(NamedTuple):
    """The contents of a block that its page shows."""

    block: Mapping[str, Any]
    id: str
    transactions: int
    operations: Sequence[Mapping[str, Any]]
    total: int
    virtual: int


async def _summed_up(visit: Visit, number: int, start: int) -> _ShownBlock | None:
    blocks, part = await visit.ask(
        NodeCall("history_api", "get_blocks", (number, 1)),
        NodeCall("history_api", "get_block_operations", (number, start, MOST_OPERATIONS)),
    )
    for each in blocks:
        shown, count = part["operations"], part["count"]
        return _ShownBlock(each, each["block_id"], each["transactions"], shown, count, each["virtual_operations"])
    return None


async def _whole(visit: Visit, number: int, start: int) -> _ShownBlock | None:
    """A block from a node without a history: only the operations that are in the block itself."""
    content, following = await visit.ask(
        NodeCall("database_api", "get_block", (number,)),
        NodeCall("database_api", "get_block_header", (min(number + 1, LAST_NUMBER),)),
    )
    if content is None:
        return None
    properties = visit.watch.properties
    is_head = number == properties["head_block_number"]
    identifier = following["previous"] if following else properties["head_block_id"] if is_head else ""
    rows = [
        {"op": each, "trx_id": NO_TRANSACTION, "trx_in_block": place, "virtual_op": 0, "block": number}
        for place, one in enumerate(content["transactions"])
        for each in one["operations"]
    ]
    shown = rows[start : start + MOST_OPERATIONS]
    return _ShownBlock(content, identifier, len(content["transactions"]), shown, len(rows), 0)


@ROUTES.page("/tx/(?P<id>[^/]+)")
async def transaction(visit: Visit) -> PageAnswer:
    identifier = visit.parts["id"].lower()
    if not HASH.fullmatch(identifier) or identifier == NO_TRANSACTION:
        raise BadQuery("fault.hash", visit.parts["id"])
    start = visit.number("from") or 0
    asked = NodeCall("history_api", "get_transaction", (identifier, start, MOST_IN_FULL))
    (found,) = await visit.node.ask(asked)
    if isinstance(found, ErrorAnswer) and not found.is_missing:
        raise NotThere("fault.transaction", identifier)
    content = needed(found)
    facts = {
        "id": identifier,
        "transaction": content,
        "is_irreversible": content["block"] <= visit.watch.properties["last_irreversible_block_num"],
        **beside(visit, "from", start, MOST_IN_FULL, has_more=start + MOST_IN_FULL < content["count"]),
    }
    return PageView("transaction.html", facts)
