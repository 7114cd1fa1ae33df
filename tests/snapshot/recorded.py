"""States that the reference has written, from four chains of different rules, and stores to put them into."""

from __future__ import annotations

import json
import lzma
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from ledgerd.codec.json.text import dumps
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.file.container import StateWriter

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "states"
CHAINS_FOLDER = FOLDER.parent / "chains"

STATES = ("open-1-600", "open-2-120", "open-hf0-336", "open-main-480")
"""A chain and the block after which its state was written."""

SUMMARIES = 300
"""Of 65,536 ids of past blocks, those in a light file."""


def recorded_file(name: str) -> bytes:
    """The bytes of the file."""
    return (FOLDER / f"{name}.vizjson").read_bytes()


def light_file(name: str) -> bytes:
    """The same state without most of its block summaries, nine tenths of its records."""
    document = json.loads(text_of(recorded_file(name)))
    state, header = document["state"], document["header"]
    state["block_summary"] = state["block_summary"][:SUMMARIES]
    header["object_counts"]["block_summary"] = SUMMARIES
    writer = StateWriter()
    writer.add(dumps(state))
    header["payload_checksum"] = writer.checksum
    return b"".join(writer.finish(dumps(header)))


def text_of(file: bytes) -> str:
    """The JSON text in a file, as another program unpacks it."""
    return zlib.decompress(file).decode("utf-8", "surrogateescape")


def small_state() -> dict[str, Any]:
    """A recorded state of the testnet as plain JSON, without most of its block summaries."""
    state: dict[str, Any] = json.loads(_small_text())
    return state


@cache
def _small_text() -> str:
    state = json.loads(text_of(recorded_file("open-2-120")))["state"]
    state["block_summary"] = state["block_summary"][:4]
    return json.dumps(state)


def market_document(chain: str, height: int, *, with_metadata: bool = False) -> dict[str, Any]:
    """The header and the state of a recorded chain with markets, without most of its block summaries.

    The metadata of markets is left out unless it is asked for: no rule reads it.
    """
    document: dict[str, Any] = json.loads(_market_text(chain, height))
    if not with_metadata:
        for part in (document["state"], document["header"]["object_counts"]):
            part.pop("pm_market_meta", None)
    return document


@cache
def _market_text(chain: str, height: int) -> str:
    raw = lzma.decompress((CHAINS_FOLDER / chain / f"state-{height}.json.xz").read_bytes())
    document = json.loads(raw.decode("utf-8", "surrogateescape"))
    summaries = document["state"]["block_summary"] = document["state"]["block_summary"][:4]
    document["header"]["object_counts"]["block_summary"] = len(summaries)
    return json.dumps(document)


def packed(state: dict[str, Any], **header: Any) -> bytes:
    """A file of this state, with a header that fits it but for what is given."""
    writer = StateWriter()
    writer.add(dumps(state))
    head = state.get("dynamic_global_property", [{}])[0]
    members = {
        "version": 1,
        "chain_id": TESTNET.chain_id.hex(),
        "snapshot_block_num": head.get("head_block_number", 0),
        "snapshot_block_id": head.get("head_block_id", ""),
        "snapshot_block_time": head.get("time", ""),
        "payload_checksum": writer.checksum,
        "object_counts": {name: len(rows) for name, rows in state.items() if isinstance(rows, list)},
        **header,
    }
    return b"".join(writer.finish(dumps(members)))
