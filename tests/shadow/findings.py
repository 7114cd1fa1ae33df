"""Differences that are found, and what writes them, without two nodes that differ."""

from __future__ import annotations

from pathlib import Path

from ledgerd.client.differing import Difference, shown
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead
from ledgerd.compare.node import NodeAnswer
from ledgerd.compare.reads import Read
from ledgerd.shadow.finding import Finder, ShadowFinding
from ledgerd.shadow.keeping.bundles import Bundles
from tests.shadow.world import Played


def finding(number: int, ours: Json, theirs: Json, api: str = "database_api") -> ShadowFinding:
    return ShadowFinding(
        Read(api, "get_block", [number]),
        is_of_consensus=True,
        difference=Difference("place", shown(ours), shown(theirs)),
        answers=(NodeAnswer(ours), NodeAnswer(theirs)),
        head=NodeHead(number, "ab" * 20, number),
        first_block=number,
        equal_block=number - 1,
        blocks=[{"timestamp": "2026-01-01T00:00:00", "transactions": []}],
    )


def finder_in(folder: Path, told: list[str]) -> Finder:
    return Finder(Played(1, folder).shadow._pair, Bundles(folder, "ledgerd", {"chain": "testnet"}), told.append)  # noqa: SLF001 - any pair
