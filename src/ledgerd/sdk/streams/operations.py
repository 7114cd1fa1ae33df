"""The operations of the blocks of a stream, of which only some may be asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterator

from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.touched import touched
from ledgerd.sdk.errors import ClientError
from ledgerd.sdk.streams.cursor import PlaceInBlock, StreamCursor
from ledgerd.sdk.streams.events import BlockEvent, OperationEvent, Undone
from ledgerd.sdk.streams.reading.answers import own_rows

BEFORE_THE_FIRST = PlaceInBlock(-1, -1, -1)


class WantedOperations:
    """Which operations are given."""

    def __init__(self, kinds: Collection[type[Operation] | str] | None, account: str | None) -> None:
        by_name = {name_of(each): each for each in OPERATIONS}
        unknown = [each for each in kinds or () if isinstance(each, str) and each not in by_name]
        if unknown:
            raise ClientError(f"{unknown[0]} is no operation")
        chosen = OPERATIONS if kinds is None else kinds
        self._kinds = frozenset(by_name[each] if isinstance(each, str) else each for each in chosen)
        self._account = account

    def admits(self, operation: Operation) -> bool:
        """Whether it is of a kind that is asked for, and in the history of the account, if one is."""
        return type(operation) in self._kinds and (self._account is None or self._account in touched(operation))


async def operations_of(
    events: AsyncGenerator[BlockEvent | Undone, None],
    wanted: WantedOperations,
    since: StreamCursor | None,
    move: Callable[[StreamCursor], None],
) -> AsyncGenerator[OperationEvent | Undone, None]:
    """The operations of blocks, those of a block behind a place of it; `move` is told how far everything was given."""
    try:
        async for event in events:
            if isinstance(event, Undone):
                yield event
                continue
            for each in _operations_in(event, wanted, since):
                yield each
            move(event.cursor)
    finally:
        await events.aclose()


def _operations_in(event: BlockEvent, wanted: WantedOperations, since: StreamCursor | None) -> Iterator[OperationEvent]:
    behind = since.place if since is not None and since.block == event.id else None
    for row in own_rows(event.block) if event.rows is None else event.rows:
        if row.place > (behind or BEFORE_THE_FIRST) and wanted.admits(row.operation):
            yield OperationEvent(
                row.operation, row.place, row.transaction_id, event.id, event.block.timestamp, event.is_irreversible
            )
