"""Every block of the recorded chains: bytes, ids, roots and JSON both ways, and the keys that signed."""

from __future__ import annotations

import base64
import json
from functools import cache
from itertools import pairwise

import pytest

from ledgerd.codec import codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.protocol.blocks.block import Block, BlockHeader, SignedHeader
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.recorded import (
    ALL_CHAINS,
    ANSWERED,
    FIRST_LATER,
    LAST_LATER,
    LATER_CHAIN,
    later_blocks,
    recorded_answers,
    recorded_blocks,
    recorded_log,
)

BLOCKS = codec_of(Block)
LATER_BLOCK = ("open-main", 901)
"""Not in the log of its chain, but in the answers of a node that had one block more."""

READ_AS_ANOTHER = {"open-pm2": [211], LATER_CHAIN: [2950]}
"""Blocks that take tokens from an oracle's insurance: amounts below zero lose digits in JSON (spec 01, section 3.3)."""

every_chain = pytest.mark.parametrize("chain", ALL_CHAINS)


@cache
def blocks_of(chain: str) -> tuple[Block, ...]:
    return tuple(map(BLOCKS.decode_exactly, recorded_blocks(chain)))


def answered_blocks(chain: str) -> tuple[Block, ...]:
    """Those that the node was asked for."""
    return blocks_of(chain)[: ANSWERED[chain]]


def json_of(chain: str, number: int, head: int = 0) -> str:
    return recorded_answers(chain, head or ANSWERED[chain])["get_block"][(number,)]


@every_chain
def test_the_log_is_cut_into_all_its_blocks(chain: str) -> None:
    blocks = recorded_blocks(chain)

    assert len(blocks) == ALL_CHAINS[chain]
    assert sum(len(block) + 8 for block in blocks) == len(recorded_log(chain))
    assert [block.number for block in blocks_of(chain)] == list(range(1, len(blocks) + 1))


@every_chain
def test_every_block_is_written_as_it_was_read(chain: str) -> None:
    assert [
        block.number
        for block, recorded in zip(blocks_of(chain), recorded_blocks(chain), strict=True)
        if not BLOCKS.encode(block) == recorded == block.packed
    ] == []


@every_chain
def test_every_id_is_that_which_the_next_block_names(chain: str) -> None:
    blocks = blocks_of(chain)

    assert blocks[0].previous == NO_BLOCK
    assert [a.number for a, b in pairwise(blocks) if a.id != b.previous] == []


@every_chain
def test_the_last_blocks_have_the_ids_sizes_and_bytes_of_the_answers(chain: str) -> None:
    answers, blocks = recorded_answers(chain, ANSWERED[chain]), answered_blocks(chain)
    raw = {number: json.loads(text) for (number,), text in answers["get_raw_block"].items()}
    info = {number: json.loads(text)[0] for (number, _), text in answers["get_block_info"].items()}
    there = sorted(number for number in raw if number <= len(blocks))

    assert there[-1] == len(blocks)
    for block in (blocks[number - 1] for number in there):
        assert raw[block.number]["block_id"] == info[block.number]["block_id"] == block.id.hex()
        assert base64.b64decode(raw[block.number]["raw_block"]) == block.packed
        assert info[block.number]["block_size"] == len(block.packed)


@every_chain
def test_every_header_alone_has_the_id_of_its_block(chain: str) -> None:
    headers = codec_of(SignedHeader)

    assert [
        block.number
        for block, recorded in zip(blocks_of(chain), recorded_blocks(chain), strict=True)
        if headers.decode(recorded).id != block.id
    ] == []


@every_chain
def test_every_merkle_root_is_that_of_the_header(chain: str) -> None:
    assert [block.number for block in blocks_of(chain) if block.merkle_root != block.transaction_merkle_root] == []


@every_chain
def test_every_block_is_printed_as_recorded(chain: str) -> None:
    assert [
        block.number for block in answered_blocks(chain) if BLOCKS.to_json(block) != json_of(chain, block.number)
    ] == []


@every_chain
def test_every_recorded_json_is_read_as_its_block(chain: str) -> None:
    others = []
    for block in answered_blocks(chain):
        text = json_of(chain, block.number).encode("utf-8", "surrogateescape")
        read = BLOCKS.from_json(parse(text, unicode_escapes=True))
        if read != block or BLOCKS.encode(read) != block.packed:
            others.append(block.number)

    assert others == READ_AS_ANOTHER.get(chain, [])


@every_chain
def test_the_recorded_headers_are_printed_and_read(chain: str) -> None:
    headers = codec_of(BlockHeader)
    blocks = answered_blocks(chain)
    for (number,), text in recorded_answers(chain, ANSWERED[chain])["get_block_header"].items():
        if number <= len(blocks):
            header = headers.decode(blocks[number - 1].packed)
            assert headers.to_json(header) == text
            assert headers.from_json(json.loads(text)) == header
            assert header.digest == blocks[number - 1].header.digest


def test_the_chain_that_goes_on_from_a_state_is_written_as_it_was_read() -> None:
    blocks = tuple(map(BLOCKS.decode_exactly, later_blocks()))

    assert blocks[0].id == blocks_of("open-1")[-1].id
    assert [block.number for block in blocks] == list(range(FIRST_LATER, LAST_LATER + 1))
    for block, following, recorded in zip(blocks, [*blocks[1:], None], later_blocks(), strict=True):
        assert BLOCKS.encode(block) == block.packed == recorded
        read = BLOCKS.from_json(parse(BLOCKS.to_json(block).encode("utf-8", "surrogateescape"), unicode_escapes=True))
        assert (read == block) == (block.number not in READ_AS_ANOTHER[LATER_CHAIN])
        assert block.merkle_root == block.transaction_merkle_root
        assert following is None or following.previous == block.id


def test_the_block_after_the_long_silence() -> None:
    chain, number = LATER_BLOCK
    answers = recorded_answers(chain, number)
    raw = json.loads(answers["get_raw_block"][(number,)])
    block = BLOCKS.decode_exactly(base64.b64decode(raw["raw_block"]))

    assert block.id.hex() == raw["block_id"]
    assert block.previous == blocks_of(chain)[-1].id
    assert BLOCKS.to_json(block) == json_of(chain, number, head=number)


@every_chain
def test_every_block_is_signed_with_the_key_that_its_validator_announced_last(chain: str) -> None:
    """The first two validators begin with keys of the network; all others are announced by operations in blocks."""
    announced = {"committee": MAINNET.committee_key, "viz": MAINNET.initiator_key}
    for block in blocks_of(chain):
        assert block.signee == announced[block.validator], block.number
        for transaction in block.transactions:
            for operation in transaction.operations:
                if isinstance(operation, ValidatorUpdate):
                    announced[operation.owner] = operation.block_signing_key
