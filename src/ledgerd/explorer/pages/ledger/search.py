"""The search: a number, an id, a key or a name leads to its page; the beginning of a name to those that begin so."""

from __future__ import annotations

import re

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.explorer.pages.view import (
    Away,
    BadQuery,
    NotThere,
    PageAnswer,
    PageFamily,
    PageView,
    Visit,
    needed,
    optional,
)
from ledgerd.protocol.types.identifiers import block_number_of_hex

ROUTES = PageFamily()
NUMBER = re.compile(r"#?([0-9][0-9 ,\u00a0\u202f]{0,14})")
HASH = re.compile("[0-9a-fA-F]{40}")
KEY = re.compile("VIZ[1-9A-HJ-NP-Za-km-z]{46,56}")
NAME = re.compile(r"@?([a-z0-9.-]{1,32})")
MOST_NAMES = 20
"""Accounts that a search lists."""
OF_A_PAGE = 100
MOST_FORMER = 1_000
"""Accounts that it was removed from: the node tells of no more."""


@ROUTES.page("/search")
async def search(visit: Visit) -> PageAnswer:
    typed = visit.text("q", 120)
    if not typed:
        return PageView("search.html", {"typed": "", "names": [], "more": ""})
    number = NUMBER.fullmatch(typed)
    if number:
        digits = int(re.sub("[^0-9]", "", number[1]))
        if 0 < digits <= visit.watch.head:
            return Away(f"/block/{digits}")
    if HASH.fullmatch(typed):
        return await _of_hash(visit, typed.lower())
    if KEY.fullmatch(typed):
        return Away(f"/key/{typed}")
    return await _of_name(visit, typed)


async def _of_hash(visit: Visit, identifier: str) -> PageAnswer:
    number = block_number_of_hex(identifier)
    found, following = await visit.node.ask(
        NodeCall("history_api", "get_transaction", (identifier, 0, 1)),
        NodeCall("database_api", "get_block_header", ((number + 1) & 0xFFFF_FFFF,)),
    )
    if not isinstance(found, ErrorAnswer):
        return Away(f"/tx/{identifier}")
    is_head = identifier == visit.watch.properties["head_block_id"]
    is_block = isinstance(following, dict) and following["previous"] == identifier
    if is_head or is_block:
        return Away(f"/block/{number}")
    raise NotThere("fault.found", identifier)


async def _of_name(visit: Visit, typed: str) -> PageAnswer:
    name = NAME.fullmatch(typed.lower())
    if name is None:
        raise NotThere("fault.found", typed)
    names = await visit.one("database_api", "lookup_accounts", name[1], MOST_NAMES)
    if name[1] in names[:1]:
        return Away(f"/account/{name[1]}")
    alike = [each for each in names if each.startswith(name[1])]
    if not alike:
        raise NotThere("fault.found", typed)
    more = f"/accounts?from={alike[-1]}" if len(alike) == MOST_NAMES else ""
    return PageView("search.html", {"typed": typed, "names": alike, "more": more})


@ROUTES.page("/key/(?P<key>[^/]+)")
async def key(visit: Visit) -> PageAnswer:
    text = visit.parts["key"]
    if not KEY.fullmatch(text):
        raise BadQuery("fault.key", text)
    now, before = await visit.node.ask(
        NodeCall("account_by_key", "get_key_references", ([text],)),
        NodeCall("database_api", "get_key_history_by_key", (text, MOST_FORMER)),
    )
    if isinstance(now, ErrorAnswer) and not now.is_missing:
        raise BadQuery("fault.key", text)
    names, beside_names = visit.part_of("skip", needed(now)[0], OF_A_PAGE)
    former, beside_former = visit.part_of("former", optional(before) or [], OF_A_PAGE)
    facts = {
        "key_text": text,
        "names": names,
        "beside_names": beside_names,
        "former": former,
        "beside_former": beside_former,
    }
    return PageView("key.html", facts)
