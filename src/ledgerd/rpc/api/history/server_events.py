"""The stream of operations as Server-Sent Events: `GET /history/events`, resumed by the id of the last event.

An id is `N` for an irreversible block, and `N-I-M` for another: with the irreversible one of then, and its mark.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from urllib.parse import parse_qsl

from ledgerd.chain.log.histories import History, Wanted
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.rpc.api.history.filter import Filter
from ledgerd.rpc.api.history.stream import HistoryStream, Subscriptions, messages_of
from ledgerd.rpc.call.view import Node

EVENTS_PATH = b"/history/events"

RETRY_MILLISECONDS = 1_000

MOST_PARAMETERS = 16
"""Parameters in the address of a stream."""
LISTS = frozenset(("types", "accounts"))
LAST_NUMBER = 0xFFFFFFFF

_ID = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})-([0-9a-f]{16}))?")


def events_of(node: Node, query: bytes, last_id: bytes) -> AsyncGenerator[bytes, None]:
    from_block, filter_, reversible = _asked(query)
    resumed = last_id.decode("latin-1").strip()
    stream = EventStream(node.service(Subscriptions).history, filter_.wanted, from_block, reversible=reversible)
    if resumed:
        stream.resume(resumed)
    return _events(node, stream)


async def _events(node: Node, stream: EventStream) -> AsyncGenerator[bytes, None]:
    yield b"retry: %d\n\n" % RETRY_MILLISECONDS
    with node.service(Subscriptions).entered(asyncio.current_task()) as name:
        async with aclosing(messages_of(stream, name, node.main)) as messages:
            async for message in messages:
                # Bytes of the chain that are no UTF-8 are replaced, as over WebSocket.
                text = message.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                yield f"id: {stream.position()}\ndata: {text}\n\n".encode()


def _asked(query: bytes) -> tuple[int, Filter, bool]:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS)
    except ValueError:
        raise RuleViolation("the query cannot be read") from None
    given = dict(pairs)
    require(len(given) == len(pairs), "a parameter is given twice")
    first, reversible = given.pop("from", "0"), given.pop("reversible", "false")
    require(first.isascii() and first.isdecimal() and len(first) <= 10, "from: a block number is expected")
    require(int(first) <= LAST_NUMBER, "from: a block number is expected")
    require(reversible in {"true", "false"}, "reversible: true or false is expected")
    conditions: dict[str, Json] = {
        name: [*value.split(",")] if name in LISTS else value for name, value in given.items()
    }
    return int(first), Filter.from_json(conditions), reversible == "true"


class EventStream(HistoryStream):
    """A stream that knows at each message how to be resumed after it."""

    def __init__(self, history: History, wanted: Wanted, next_block: int, *, reversible: bool) -> None:
        super().__init__(history, wanted, next_block, reversible=reversible)
        self._is_undone = False
        """Whether the client has first to hear that blocks were undone."""

    def resume(self, position: str) -> None:
        found = _ID.fullmatch(position)
        if found is None or int(found[1]) >= LAST_NUMBER:
            raise RuleViolation("Last-Event-ID: this is no id of this stream")
        told, mark = int(found[1]), found[3]
        if mark is not None:
            with self._history.reading() as view:
                self._is_undone = _digest(view.mark_of(told)) != mark
            if self._is_undone:
                told = min(told, int(found[2]))
        self._next = self._covered_from = told + 1

    def opening(self, name: str) -> str:
        text = super().opening(name)
        with self._history.reading() as view:
            if self._is_reversible:
                for number in range(view.irreversible_number + 1, min(self._next, view.head_number + 1)):
                    self._marks[number] = view.mark_of(number)
        return f"{{{text.partition(',')[2]}"

    def advance(self) -> tuple[str, bool]:
        if self._is_undone:
            self._is_undone = False
            return f'{{"undone_from":{self._next}}}', True
        return super().advance()

    def position(self) -> str:
        told = self._covered_from - 1
        mark = self._marks.get(told)
        return f"{told}" if mark is None else f"{told}-{min(self._marks) - 1}-{_digest(mark)}"


def _digest(mark: bytes) -> str:
    return hashlib.sha256(mark).hexdigest()[:16]
