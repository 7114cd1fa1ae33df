"""The recorded facts that the kit has with it, or that a folder has: chains, their blocks, states and answers."""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import OperatorError

CHAINS_FOLDER = "chains"
ABOUT = "recording.json"
"""Written by `ledgerd record` beside what it has recorded."""
PACKED = ".xz"
OFFSET_SIZE = 8
"""Bytes after each block of a log: the place where the block begins."""

TESTNET = "testnet"
PRIVATE = "open-main.toml"
"""The chain file of a private network with mainnet's constants."""
EARLIER, PRESENT = "3.2.0", "4.1.0"

NETWORKS: dict[str, tuple[str, str]] = {
    "open-hf0": (PRIVATE, EARLIER),
    "open-2": (TESTNET, EARLIER),
    "open-main": (PRIVATE, EARLIER),
    "open-pm2": (TESTNET, PRESENT),
    "open-main15": (PRIVATE, PRESENT),
    "open-1": (TESTNET, EARLIER),
    "open-big": (TESTNET, PRESENT),
    "open-pm": (TESTNET, PRESENT),
}
"""For each chain, its network and the version of the node that recorded it. The first five come with the kit."""


class VectorsMissing(OperatorError):
    """There are no recorded facts where they should be."""


class Fact(NamedTuple):
    """A request, and the answer that a reference node gave."""

    api: str
    method: str
    arguments: list[Json]
    answer: str


class RecordedChain:
    """One recorded chain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.chain_id = ""
        """The id of the chain, if the recording states it; the states of the chains of the kit have it."""
        if folder.name in NETWORKS:
            self.network, self.version = NETWORKS[folder.name]
        else:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            self.network, self.version, self.chain_id = about["network"], about["version"], about["chain_id"]

    @property
    def is_of_an_earlier_version(self) -> bool:
        """Programs of today answer more fields than those that recorded it."""
        return self.version == EARLIER

    @cached_property
    def block_log(self) -> bytes:
        """The blocks, as in a node's file of its log."""
        return self._unpacked("block_log")

    @cached_property
    def packed_blocks(self) -> tuple[bytes, ...]:
        """The bytes of block 1, 2, 3, ..."""
        blocks, end = [], len(self.block_log)
        while end:
            start = int.from_bytes(self.block_log[end - OFFSET_SIZE : end], "little")
            blocks.append(self.block_log[start : end - OFFSET_SIZE])
            end = start
        return tuple(reversed(blocks))

    @property
    def index(self) -> bytes:
        """The places of its blocks in the log, as in the file beside it."""
        places, place = bytearray(), 0
        for block in self.packed_blocks:
            places += place.to_bytes(OFFSET_SIZE, "little")
            place += len(block) + OFFSET_SIZE
        return bytes(places)

    def heights(self, kind: str) -> list[int]:
        """The blocks for which there are facts of a kind: `state`, `answers`, `api`, `account-histories`."""
        names = (path.name.partition(".")[0].removeprefix(f"{kind}-") for path in self.folder.glob(f"{kind}-*{PACKED}"))
        return sorted(int(name) for name in names if name.isdecimal())

    def facts(self, kind: str, height: int) -> Iterator[Fact]:
        for line in self._unpacked(f"{kind}-{height}.jsonl").decode("utf-8", "surrogateescape").splitlines():
            fact = json.loads(line)
            api, method, arguments = fact["request"]["params"]
            yield Fact(api, method, arguments, fact["answer"])

    def state(self, height: int) -> dict[str, Json]:
        """The whole document of a state: `header` and `state`, whose sections are lists of records."""
        return read_state(self._unpacked(f"state-{height}.json"))

    def _unpacked(self, name: str) -> bytes:
        return lzma.decompress((self.folder / f"{name}{PACKED}").read_bytes())


class Vectors:
    """A folder of recorded facts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / CHAINS_FOLDER).is_dir():
            raise VectorsMissing(f"{folder}: there is no folder {CHAINS_FOLDER} with recorded chains in it")

    def chains(self, only: list[str]) -> list[RecordedChain]:
        """The chains that are here, or those of these names."""
        place = self.folder / CHAINS_FOLDER
        recorded = sorted(path.parent.name for path in place.glob(f"*/{ABOUT}"))
        names = dict.fromkeys((*NETWORKS, *recorded))
        here = [name for name in names if (place / name / f"block_log{PACKED}").is_file()]
        missing = [name for name in only if name not in here]
        if missing:
            raise VectorsMissing(f"there is no recorded chain {missing[0]} here, but {', '.join(here)}")
        return [RecordedChain(self.folder / CHAINS_FOLDER / name) for name in only or here]

    def lines(self, name: str) -> list[dict[str, Json]]:
        """The lines of a file; none if a folder has recordings alone."""
        if not (self.folder / name).is_file():
            return []
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def document(self, name: str) -> dict[str, Json]:
        """A file; nothing if a folder has recordings alone."""
        if not (self.folder / name).is_file():
            return {}
        found: dict[str, Json] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return found


def own_vectors() -> Path:
    """The folder of the facts: in the installed kit, or among the tests in a checkout."""
    inside = Path(__file__).with_name("vectors")
    return inside if inside.is_dir() else Path(__file__).parents[3] / "tests" / "vectors"


def read_state(text: bytes) -> dict[str, Json]:
    found: dict[str, Json] = json.loads(text.decode("utf-8", "surrogateescape"))
    return found


LARGEST_STATE = 256 << 20
"""Bytes of the text of a state that is compared. The largest recorded one has 5 million."""


def read_state_file(path: Path) -> dict[str, Json]:
    """A state in a file: a snapshot as nodes write it (.vizjson), or its text."""
    raw = path.read_bytes()
    if not raw.startswith(b"{"):
        inflating = zlib.decompressobj()
        raw = inflating.decompress(raw, LARGEST_STATE)
        if inflating.unconsumed_tail:
            raise OperatorError(f"{path}: the state has more than {LARGEST_STATE:,} bytes")
    try:
        document = read_state(raw)
    except ValueError as problem:
        raise OperatorError(f"{path}: this is no state in JSON: {problem}") from None
    if not isinstance(document.get("header"), dict) or not isinstance(document.get("state"), dict):
        raise OperatorError(f"{path}: a state has a header and sections under state")
    return document
