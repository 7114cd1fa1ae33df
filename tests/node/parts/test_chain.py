"""The chain on its thread: a branch that is tried in pieces is gone on with until the trial is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.chain import ChainPart
from tests.node.contexts import context_of

PIECES = 5


def test_the_pieces_of_a_trial_are_jobs_that_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    told: list[Callable[[], None]] = []

    def try_further(_chain: Chain) -> None:
        happened.append("piece")
        if happened.count("piece") < PIECES:
            told[0]()
            told[0]()

    monkeypatch.setattr(Chain, "try_in_pieces", lambda _chain, go_on: told.append(go_on))
    monkeypatch.setattr(Chain, "try_further", try_further)

    async def scene() -> None:
        words = {"data-dir": [str(tmp_path)], "chain": ["testnet"], "shared-file-size": ["64M"]}
        part = ChainPart(context_of(ChainPart, read_configuration(words, tmp_path)))
        await part.start()
        await part.run(told[0])
        while happened.count("piece") < PIECES:
            await part.run(lambda: None)
        await part.stop()

    asyncio.run(scene())
    assert happened.count("piece") == PIECES, "one at a time, however often it is asked for"
