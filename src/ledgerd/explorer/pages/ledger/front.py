"""The first page: whether the chain lives, what there is of it, and what happens now. Made from memory alone."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.view import PageAnswer, PageFamily, PageView, Visit
from ledgerd.explorer.words.numbers import units_of

ROUTES = PageFamily()
BLOCKS, TRANSFERS = 10, 10


@ROUTES.page("/")
async def front(visit: Visit) -> PageAnswer:
    return PageView("front.html", facts_of(visit.watch))


def facts_of(watch: ChainWatch) -> dict[str, Any]:
    properties = watch.properties
    supply, staked = units_of(properties["current_supply"]), units_of(properties["total_vesting_fund"])
    slots = watch.slots()
    return {
        "properties": properties,
        "slots": slots,
        "missed": sum(each.state == "missed" for each in slots),
        "next_name": next((each.validator for each in slots if each.state == "coming"), ""),
        "participation": watch.participation,
        "staked": (staked, supply),
        "blocks": list(islice(watch.blocks, BLOCKS)),
        "transfers": list(islice(watch.transfers, TRANSFERS)),
        "transactions": sum(each.transactions for each in watch.blocks),
        "span": len(watch.blocks),
    }
