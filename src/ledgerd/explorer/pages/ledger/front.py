"""The first page: whether the chain lives, what there is of it, and what happens now. Made from memory alone."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ledgerd.explorer.node.chain import Chain
from ledgerd.explorer.pages.view import Answer, Routes, View, Visit
from ledgerd.explorer.words.numbers import units_of

ROUTES = Routes()
BLOCKS, TRANSFERS = 10, 10


@ROUTES.page("/")
async def front(visit: Visit) -> Answer:
    """The chain at a glance."""
    return View("front.html", facts_of(visit.chain))


def facts_of(chain: Chain) -> dict[str, Any]:
    """What stands on the first page."""
    properties = chain.properties
    supply, staked = units_of(properties["current_supply"]), units_of(properties["total_vesting_fund"])
    slots = chain.slots()
    return {
        "properties": properties,
        "slots": slots,
        "missed": sum(each.state == "missed" for each in slots),
        "next_name": next((each.validator for each in slots if each.state == "coming"), ""),
        "participation": chain.participation,
        "staked": (staked, supply),
        "blocks": list(islice(chain.blocks, BLOCKS)),
        "transfers": list(islice(chain.transfers, TRANSFERS)),
        "transactions": sum(each.transactions for each in chain.blocks),
        "span": len(chain.blocks),
    }
