"""A block with an amount that no node can print is read as bytes, and does not end the stream of all that follow."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from ledgerd.sdk.errors import Rejected, WrongAnswer
from tests.recorded import recorded_blocks
from tests.rpc.loopback import play
from tests.sdk.recorded_nodes import RecordedNode
from tests.sdk.scripted_node import Refused
from tests.sdk.streams.test_recorded_streams import client_of

LAST, ODD = 40, 33


class UnprintingNode(RecordedNode):
    """A node that refuses the JSON of one block, and gives bytes, if it has the API."""

    def __init__(self, *, gives_bytes: bool = True, shift: int = 0) -> None:
        super().__init__("open-2", LAST)
        self._shift = shift
        if gives_bytes:
            self.methods["get_raw_block"] = self.get_raw_block

    def get_block(self, number: int) -> Any:
        if number == ODD:
            raise Refused("a[7] == 0: ")
        return super().get_block(number)

    def get_block_header(self, number: int) -> Any:
        block = super().get_block(number)
        return block and {"previous": block["previous"]}

    def get_raw_block(self, number: int) -> Any:
        return {"raw_block": b64encode(self.blocks[number - 1 + self._shift].packed).decode()}


def test_the_block_is_read_as_bytes_and_those_behind_it_follow() -> None:
    async def scene() -> None:
        async with client_of(UnprintingNode()) as client:
            found = [each.block.packed async for each in client.blocks(since=1, until=LAST)]
            assert found == list(recorded_blocks("open-2")[:LAST])
            numbers = {each.number async for each in client.operations(since=1, until=LAST)}
            assert {ODD - 1, ODD, ODD + 1} <= numbers

    play(scene)


def test_bytes_are_believed_no_more_than_json_is() -> None:
    async def scene() -> None:
        async with client_of(UnprintingNode(shift=1), rounds=1) as client:
            with pytest.raises(WrongAnswer, match="answers block"):
                [each async for each in client.blocks(since=ODD, until=ODD)]

    play(scene)


def test_a_node_without_bytes_says_why_it_refuses() -> None:
    async def scene() -> None:
        async with client_of(UnprintingNode(gives_bytes=False)) as client:
            with pytest.raises(Rejected, match=r"a\[7\]"):
                [each async for each in client.blocks(since=1, until=LAST)]

    play(scene)
