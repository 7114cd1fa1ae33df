"""The API that the families of this folder declare their methods in, and what their arguments have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ledgerd.protocol.errors import require
from ledgerd.rpc.call.declarations import Api

PREDICTION_MARKET_API = Api(
    "prediction_market_api", "Prediction markets: who asks, who answers, what was bet, lent and paid."
)

MOST_OF_A_PAGE = 1_000
"""Objects of one answer."""
LAST_FROM = 1_000_000

NEWEST, OLDEST = "newest", "oldest"
"""Orders of a page; any other word stands for the method's own."""

T = TypeVar("T")


def require_page(limit: int, first: int) -> None:
    """The bounds of a page: the limit is looked at before the place where it begins (spec 11, section 2)."""
    require(limit <= MOST_OF_A_PAGE, "limit <= 1000: ")
    require(first <= LAST_FROM, "from <= MAX_PM_PAGE_FROM: ")


def require_limit_explained(limit: int) -> None:
    """The bound of the limit, for the two methods whose refusal explains it."""
    require(limit <= MOST_OF_A_PAGE, "limit <= 1000: limit must be <= 1000")


def page(rows: Iterable[T], first: int, limit: int) -> Iterator[T]:
    return islice(rows, first, first + limit)
