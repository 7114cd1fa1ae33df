"""Pages of a history: cursors in both directions, and a limit on the work for one page.

A cursor is a readable text: `newest`, `oldest`, `before:N` or `after:N`, where N is the number of an entry or of a
block. A page that has examined many operations and found few ends early, with cursors to continue.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from ledgerd.chain.log.histories import HistoryEntry, HistoryView, RecordedOperation, Wanted, entry_text
from ledgerd.codec.json.text import quote
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.history.filter import Filter

NEWEST, OLDEST = "newest", "oldest"

MOST_EXAMINED = 5_000
"""Operations that are examined for one page: some milliseconds of work."""

SLICE = 250

FIRST_SLICE = 32
"""At first as many of an account are examined as the page has room for, or this many, then twice as many each time:
where most pass the filter, none are printed for nothing."""

_CURSOR = re.compile(r"(before|after):([0-9]{1,10})")
LAST_NUMBER = 0xFFFFFFFF


class AccountPage(msgspec.Struct, frozen=True):
    """Entries of an account, the oldest first, and the cursors of the neighbouring pages."""

    entries: tuple[HistoryEntry, ...]
    older: str | None
    newer: str


class BlocksPage(msgspec.Struct, frozen=True):
    """Operations of whole blocks, and the cursors of the neighbouring pages."""

    first_block: UInt32
    last_block: UInt32
    operations: tuple[RecordedOperation, ...]
    older: str | None
    newer: str


class Walk(NamedTuple):
    """The start of a page, and its direction."""

    start: int
    is_upward: bool


def walk_of(cursor: str, first: int, last: int) -> Walk:
    """The walk of a cursor over the numbers of a range; a start outside of it means that nothing is left."""
    if cursor in {"", NEWEST}:
        return Walk(last, is_upward=False)
    if cursor == OLDEST:
        return Walk(first, is_upward=True)
    found = _CURSOR.fullmatch(cursor)
    if found is None or int(found[2]) > LAST_NUMBER:
        expected = f'cursor: "{NEWEST}", "{OLDEST}", "before:N" or "after:N" is expected, not ${{cursor}}'
        raise RuleViolation(expected, cursor=quote(cursor))
    number = int(found[2])
    if found[1] == "after":
        return Walk(max(first, number + 1), is_upward=True)
    return Walk(min(last, number - 1), is_upward=False)


def account_page(view: HistoryView, account: AccountName, filter_: Filter, cursor: str, limit: int) -> str:
    entries = view.range_of(account)
    if entries is None:
        walk_of(cursor, 0, 0)
        return f'{{"entries":[],"newer":"{OLDEST}"}}'
    wanted = filter_.wanted
    low, high = entries
    if filter_.since is not None:
        low = max(low, view.first_entry_since(account, view.first_block_since(filter_.since)))
    last_block = last_block_of(view, filter_)
    if last_block < view.head_number:
        high = min(high, view.first_entry_since(account, last_block + 1) - 1)
    walk = walk_of(cursor, low, high)
    found, end = _entries(view, account, wanted, walk, (low, high), limit)
    bottom, top = (min(walk.start, high + 1), end) if walk.is_upward else (end, max(walk.start, low - 1))
    texts = ",".join(entry_text(*each) for each in found)
    return f'{{"entries":[{texts}],{_neighbours(bottom, top, low)}}}'


def _neighbours(bottom: int, top: int, low: int) -> str:
    older = f'"older":"before:{bottom}",' if bottom > low else ""
    return f'{older}"newer":"{OLDEST if top < 0 else f"after:{top}"}"'


Entries = list[tuple[int, str]]


def _entries(
    view: HistoryView, account: AccountName, wanted: Wanted, walk: Walk, bounds: tuple[int, int], limit: int
) -> tuple[Entries, int]:
    """The entries of a walk within bounds, in order, and the last number that was examined."""
    (low, high), (position, is_upward) = bounds, walk
    stop = min(high, position + MOST_EXAMINED - 1) if is_upward else max(low, position - MOST_EXAMINED + 1)
    found: Entries = []
    size = max(limit, FIRST_SLICE)
    while len(found) < limit and (position <= stop if is_upward else position >= stop):
        size = min(size, SLICE)
        end = min(stop, position + size - 1) if is_upward else max(stop, position - size + 1)
        some = view.find_entries(account, min(position, end), max(position, end), wanted)
        found = found + some if is_upward else some + found
        position, size = end + 1 if is_upward else end - 1, size * 2
    if len(found) > limit:
        found = found[:limit] if is_upward else found[-limit:]
        position = found[-1][0] + 1 if is_upward else found[0][0] - 1
    return found, position - 1 if is_upward else position + 1


def blocks_page(view: HistoryView, filter_: Filter, cursor: str, limit: int) -> str:
    """The text of a `BlocksPage`. It ends with the block in which the limit was reached, which it contains whole."""
    wanted = filter_.wanted
    low, high = max(1, view.first_block_since(filter_.since or 0)), last_block_of(view, filter_)
    start, is_upward = walk_of(cursor, low, high)
    found: list[str] = []
    position, looked_at = start, 0
    while low <= position <= high and len(found) < limit and looked_at < MOST_EXAMINED:
        most = min(SLICE, max(limit - len(found), 1))
        operations, reached = view.find_operations(position, high if is_upward else low, wanted, most)
        found = found + operations if is_upward else operations + found
        looked_at += most
        position = reached + 1 if is_upward else reached - 1
    bottom, top = (start, position - 1) if is_upward else (position + 1, start)
    bottom, top = min(bottom, high + 1), max(top, low - 1)
    heads = f'"first_block":{bottom},"last_block":{top}'
    return f'{{{heads},"operations":[{",".join(found)}],{_neighbours(bottom, top, low)}}}'


def last_block_of(view: HistoryView, filter_: Filter) -> int:
    last = view.irreversible_number if filter_.irreversible else view.head_number
    # The operations of a block's transactions have the time of the block before.
    return last if filter_.until is None else min(last, view.first_block_since(filter_.until))
