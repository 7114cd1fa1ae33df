"""Writes what was recorded in the form of tests/vectors: the log of blocks, answers, what was sent."""

from __future__ import annotations

import base64
import json
import lzma
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ledgerd.basics.durable import put_in_place
from ledgerd.chain.log.files import OFFSET
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.recording.journal import RecordingJournal
from ledgerd.recording.network import RecordedFact, RecordedNetwork, RecordingRefused

MOST_BLOCKS = 100_000
"""The most blocks of a chain that is recorded whole: three and a half days."""
ABOUT = "recording.json"


class Writing:
    """The files of one recorded chain."""

    def __init__(self, folder: Path, network: RecordedNetwork, report: Callable[[str], None]) -> None:
        self._folder = folder
        self._network = network
        self._report = report

    def write(self, journal: RecordingJournal) -> int:
        """Write all files; returns the last block that is in them."""
        last = self._network.head.number
        if last > MOST_BLOCKS:
            raise RecordingRefused(
                f"the chain has {last:,} blocks, and at most {MOST_BLOCKS:,} are recorded: begin a new one"
            )
        self._report(f"reading blocks 1 to {last:,}")
        self._pack("block_log", b"".join(self._log(last)))
        self._pack(f"answers-{last}.jsonl", b"".join(self._answers(last)))
        by_height: defaultdict[int, list[RecordedFact]] = defaultdict(list)
        for line in journal.lines:
            if "fact" in line:
                fact = RecordedFact(*line["fact"])
                by_height[fact.height].append(fact)
        for height, facts in sorted(by_height.items()):
            self._pack(f"api-{height}.jsonl", b"".join(map(_line_of, facts)))
        self._pack("sent.json", json.dumps(self._sent(journal)).encode())
        network = "testnet" if self._network.chain_id == TESTNET.chain_id else ""
        about = {"version": self._network.version, "chain_id": self._network.chain_id.hex(), "network": network}
        self._put(ABOUT, json.dumps(about, indent=1).encode())
        return last

    def _pack(self, name: str, data: bytes) -> None:
        self._put(f"{name}.xz", lzma.compress(data))

    def _put(self, name: str, data: bytes) -> None:
        fresh = self._folder / f"{name}.new"
        fresh.write_bytes(data)
        put_in_place(fresh, self._folder / name)

    def _log(self, last: int) -> Iterator[bytes]:
        """Each block, and the place where it begins; each has to be the one that the next names."""
        place, previous = 0, bytes(20)
        for number in range(1, last + 1):
            packed = self._packed_block(number)
            block = codec_of(Block).decode(packed)
            if block.number != number or block.previous != previous:
                raise RecordingRefused(f"block {number} of the node does not follow the one before it")
            yield packed + OFFSET.pack(place)
            place, previous = place + len(packed) + OFFSET.size, block.id

    def _packed_block(self, number: int) -> bytes:
        answer = self._network.whole("raw_block", "get_raw_block", number)
        result = answer.get("result")
        if isinstance(result, dict) and result.get("raw_block"):
            return base64.b64decode(result["raw_block"])
        shown = self._network.value("database_api", "get_block", number)
        return codec_of(Block).from_json(shown).packed

    def _answers(self, last: int) -> Iterator[bytes]:
        for number in range(1, last + 1):
            yield _line_of(self._network.fact(2 * number - 1, "database_api", "get_block", [number]))
            yield _line_of(self._network.fact(2 * number, "operation_history", "get_ops_in_block", [number, False]))

    @staticmethod
    def _sent(journal: RecordingJournal) -> dict[str, Any]:
        sent = [
            {
                "scenario": line["scenario"],
                "ops": line["operations"],
                "id": line["transaction"],
                "block": line["result"],
            }
            for line in journal.lines
            if "transaction" in line
        ]
        return {"begun": journal.begun, "sent": sent}


def _line_of(fact: RecordedFact) -> bytes:
    return (json.dumps({"request": fact.request, "answer": fact.answer}) + "\n").encode()
