"""The adapter of our own library, which is an example of one: `python -m ledgerd.conformance.adapter`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec

import orjson

from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json
from ledgerd.conformance.serving import AdapterFunction, serve
from ledgerd.pricing import fixed_point, lmsr
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.crypto.signatures import Signature, recover
from ledgerd.protocol.operations.base import Operation

Arguments = dict[str, Json]


def _block(given: Arguments) -> Block:
    return codec_of(Block).decode(_bytes(given, "block"))


def _transaction(given: Arguments) -> Transaction:
    return codec_of(Transaction).decode(_bytes(given, "transaction"))


def _bytes(given: Arguments, name: str) -> bytes:
    return bytes.fromhex(str(given[name]))


def _number(given: Arguments, name: str) -> int:
    return int(str(given[name]))


def _book(given: Arguments) -> tuple[list[int], int]:
    quantities = given["q"]
    return [int(str(each)) for each in quantities] if isinstance(quantities, list) else [], _number(given, "b")


FUNCTIONS: Mapping[str, AdapterFunction] = {
    "block_id": lambda given: _block(given).id.hex(),
    "merkle_root": lambda given: _block(given).merkle_root.hex(),
    "decode_block": lambda given: orjson.loads(codec_of(Block).to_json(_block(given))),
    "encode_block": lambda given: codec_of(Block).from_json(given["block"]).packed.hex(),
    "transaction_id": lambda given: _transaction(given).id.hex(),
    "signing_digest": lambda given: _transaction(given).signature_digest(_bytes(given, "chain_id")).hex(),
    "encode_operation": lambda given: (
        codec_of(Operation).encode(codec_of(Operation).from_json(given["operation"])).hex()
    ),
    "decode_operation": lambda given: orjson.loads(
        codec_of(Operation).to_json(codec_of(Operation).decode(_bytes(given, "operation")))
    ),
    "recover_key": lambda given: public_key_text(
        recover(Signature(_bytes(given, "signature")), _bytes(given, "digest"))
    ),
    "mul_q": lambda given: str(fixed_point.mul_q(_number(given, "a"), _number(given, "b"))),
    "div_q": lambda given: str(fixed_point.div_q(_number(given, "a"), _number(given, "b"))),
    "exp_q": lambda given: str(fixed_point.exp_q(_number(given, "x"))),
    "ln_q": lambda given: str(fixed_point.ln_q(_number(given, "x"))),
    "lmsr_cost": lambda given: lmsr.cost(*_book(given)),
    "lmsr_prices": lambda given: list(lmsr.prices(*_book(given))),
    "lmsr_buy_cost": lambda given: lmsr.buy_cost(*_book(given), _number(given, "i"), _number(given, "delta")),
    "lmsr_sell_return": lambda given: lmsr.sell_return(*_book(given), _number(given, "i"), _number(given, "delta")),
    "lmsr_tokens_for_amount": lambda given: tokens_for_amount(
        *_book(given), _number(given, "i"), _number(given, "amount")
    ),
    "lmsr_b_from_liquidity": lambda given: lmsr.depth_of_liquidity(_number(given, "liquidity"), _number(given, "n")),
}
"""The functions by their names; one that is missing here is not offered."""


def offered() -> Mapping[str, AdapterFunction]:
    """All functions; if the node is installed, also the state after a block."""
    if find_spec("ledgerd.chain") is None:
        return FUNCTIONS
    from ledgerd.conformance.states import state_after  # noqa: PLC0415 - the rest works without a node

    return {**FUNCTIONS, "state": state_after}


if __name__ == "__main__":
    serve(offered(), sys.stdin, sys.stdout)
