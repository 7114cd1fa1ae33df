"""Reading blocks from nodes, data directories and block logs; errors for invalid answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.cli.debug import blocks as module
from ledgerd.cli.debug.blocks import blocks_of
from ledgerd.protocol.errors import OperatorError
from tests.cli.debug.chains import answering, log_of, node_with, recorded


def test_a_log_and_a_node_give_the_same_blocks(tmp_path: Path) -> None:
    chain = recorded(12)
    with node_with(chain) as address, blocks_of(address) as asked, blocks_of(log_of(tmp_path / "a", chain)) as read:
        assert asked.head == read.head == 12
        for number, block in enumerate(chain, 1):
            assert asked.block(number) == read.block(number) == block
        assert asked.block(13) is None
        assert read.block(13) is None


@pytest.mark.parametrize("first", [1, 2, 7, 12])
def test_the_first_block_of_a_node_is_found(first: int) -> None:
    with node_with(recorded(12), first) as address, blocks_of(address) as blocks:
        assert blocks.first() == first


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"no json", "get_dynamic_global_properties is answered with no json"),
        (b"[]", "get_dynamic_global_properties is answered with []"),
        (b'{"error":{"code":-32002}}', "is answered with"),
        (b'{"id":1,"result":null}', "does not say where its head is"),
        (b'{"id":1,"result":{"head_block_number":"5"}}', "does not say where its head is"),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_the_operator(answer: bytes, said: str) -> None:
    with answering(lambda _: answer) as address, pytest.raises(OperatorError) as caught, blocks_of(address):
        pass
    assert str(caught.value).startswith(address)
    assert said in str(caught.value)


def test_an_invalid_block_is_an_operator_error() -> None:
    answer = b'{"id":1,"result":{"head_block_number":5,"previous":"x"}}'
    with answering(lambda _: answer) as address, blocks_of(address) as blocks, pytest.raises(OperatorError) as caught:
        blocks.block(5)
    assert "its block 5 cannot be read" in str(caught.value)


def test_no_more_is_read_of_an_answer_than_a_block_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b'{"id":1,"result":{"head_block_number":5}}'
    monkeypatch.setattr(module, "LARGEST_ANSWER", len(answer))
    with answering(lambda _: answer) as address, blocks_of(address) as blocks:
        assert blocks.head == 5
    larger = pytest.raises(OperatorError, match="more than")
    with answering(lambda _: answer + b" ") as address, larger, blocks_of(address):
        pass
