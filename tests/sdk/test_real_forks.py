"""Streams over two real nodes whose chain splits and is joined: replayed, they are the chain that both have then."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.sdk import BlockingClient, ClientLimits
from ledgerd.sdk.streams.events import BlockEvent, OperationEvent, Undone
from ledgerd.testing.fork import Fork

OFTEN = ClientLimits(poll_seconds=0.05)


class Replay:
    """What a program has that applies what a stream gives."""

    def __init__(self) -> None:
        self.given: list[BlockEvent | OperationEvent] = []
        self.undone: list[int] = []

    def take(self, event: BlockEvent | OperationEvent | Undone) -> None:
        if isinstance(event, Undone):
            self.undone.append(event.number)
            self.given = [each for each in self.given if each.cursor.block != event.id]
        else:
            self.given.append(event)

    @property
    def blocks(self) -> list[str]:
        return [each.cursor.block.hex() for each in self.given]

    @property
    def memos(self) -> list[str]:
        operations = [each.operation for each in self.given if isinstance(each, OperationEvent)]
        return [each.memo for each in operations if isinstance(each, Transfer)]


def read(stream: Iterator[BlockEvent | OperationEvent | Undone], replay: Replay, so_far: Callable[[], bool]) -> None:
    while not so_far():
        replay.take(next(stream))


def test_over_a_split_and_a_join_streams_end_with_the_chain_that_stays(fork: Fork) -> None:
    left, right = fork.left, fork.right
    first = left.head.number
    blocks, transfers = Replay(), Replay()
    with BlockingClient(left.url, right.url, limits=OFTEN) as client:
        of_blocks = client.blocks(since=first, irreversible=False, undone=True)
        of_transfers = client.operations(kinds=[Transfer], since=first, irreversible=False, undone=True)

        left.transfer("alice", "bob", "1.000 VIZ", "of the left")
        left.produce(2)
        read(of_blocks, blocks, lambda: len(blocks.given) == 4)
        read(of_transfers, transfers, lambda: transfers.memos == ["of the left"])
        assert blocks.blocks == [left.block_id(number) for number in range(first, first + 4)]

        right.transfer("alice", "bob", "2.000 VIZ", "of the right")
        right.produce(4)
        fork.join()
        fork.produce(1)
        read(of_blocks, blocks, lambda: blocks.blocks[-1:] == [left.head.id])
        read(of_transfers, transfers, lambda: len(transfers.memos) == 2)

    assert blocks.undone == [first + 3, first + 2, first + 1]
    assert blocks.blocks == [right.block_id(number) for number in range(first, right.head.number + 1)]
    assert transfers.undone == blocks.undone
    assert transfers.memos == ["of the right", "of the left"]
