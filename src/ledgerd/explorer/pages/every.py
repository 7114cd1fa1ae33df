"""Every page of the explorer, and which of them a path asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ledgerd.explorer.pages.betting import markets
from ledgerd.explorer.pages.community import agreements, validators
from ledgerd.explorer.pages.ledger import blocks, front, search
from ledgerd.explorer.pages.people import accounts
from ledgerd.explorer.pages.view import PageHandler, Route

ROUTES: tuple[Route, ...] = tuple(
    route
    for family in (front, blocks, search, accounts, validators, agreements, markets)
    for route in family.ROUTES.all
)


class FoundPage(NamedTuple):
    """What makes a page, and what stood in its path."""

    handler: PageHandler
    parts: Mapping[str, str]


def page_of(path: str) -> FoundPage | None:
    for pattern, handler in ROUTES:
        match = pattern.fullmatch(path)
        if match:
            return FoundPage(handler, match.groupdict())
    return None
