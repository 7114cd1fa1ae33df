"""Snapshots as somebody would forge them who serves them to others."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

from ledgerd.codec import codec_of
from ledgerd.codec.json.text import dumps
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.snapshot.file.container import StateWriter
from tests.snapshot.recorded import text_of

State = dict[str, Any]
ONE_VIZ = 1_000
KEY = PrivateKey(b"\7" * 32)


class Poison(Enum):
    """What is forged."""

    MINTED = "tokens that nobody has issued"
    MOVED = "tokens of one account at another, so that all sums are equal"
    HEAD = "a head block that its validator has not signed"
    CHAIN = "a head block with a key of the forger's in the state, so that all of it fits together"


def _amount(text: str, more: int) -> str:
    number, unit = text.split()
    whole, _, part = number.partition(".")
    value = int(whole + part) + more
    return f"{value // 1_000}.{value % 1_000:03} {unit}"


def _mint(state: State) -> None:
    account = state["account"][-1]
    account["balance"] = _amount(account["balance"], ONE_VIZ)


def _move(state: State) -> None:
    rich = max(state["account"], key=lambda each: float(each["balance"].split()[0]))
    poor = min(state["account"], key=lambda each: float(each["balance"].split()[0]))
    rich["balance"] = _amount(rich["balance"], -ONE_VIZ)
    poor["balance"] = _amount(poor["balance"], ONE_VIZ)


def _forge_head(state: State) -> None:
    block = codec_of(Block).from_json(state["fork_db_head_block"])
    plain = BlockHeader(
        block.previous, block.timestamp, block.validator, block.transaction_merkle_root, block.extensions
    )
    forged = sign_block(plain, block.transactions, KEY)
    state["fork_db_head_block"] = json.loads(codec_of(Block).to_json(forged))
    state["dynamic_global_property"][0]["head_block_id"] = forged.id.hex()
    for summary in state["block_summary"]:
        if summary["block_id"] == block.id.hex():
            summary["block_id"] = forged.id.hex()


def _forge_chain(state: State) -> None:
    """Only the id of the head tells: no peer has such a block."""
    _forge_head(state)
    for validator in state["validator"]:
        if validator["owner"] == state["fork_db_head_block"]["validator"]:
            validator["signing_key"] = public_key_text(KEY.public)


FORGERIES: dict[Poison, Callable[[State], None]] = {
    Poison.MINTED: _mint,
    Poison.MOVED: _move,
    Poison.HEAD: _forge_head,
    Poison.CHAIN: _forge_chain,
}


def poisoned(file: bytes, kind: Poison) -> bytes:
    """The same snapshot, forged, with a header that fits it."""
    document = json.loads(text_of(file))
    FORGERIES[kind](document["state"])
    return repacked(document)


def repacked(document: dict[str, Any]) -> bytes:
    """A file of a changed document; the checksum is that of what is in it."""
    writer = StateWriter()
    writer.add(dumps(document["state"]))
    head_id = document["state"]["dynamic_global_property"][0]["head_block_id"]
    header = {**document["header"], "payload_checksum": writer.checksum, "snapshot_block_id": head_id}
    return b"".join(writer.finish(dumps(header)))
