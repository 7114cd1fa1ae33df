"""What a worker learns of the past while no block comes is told, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ledgerd.node.workers import node_source
from tests.archive.files import write_archive
from tests.chain.logged_blocks import packed_blocks


def test_files_of_the_archive_and_another_history_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_source, "CHECK_SECONDS", 0.001)
    archive, history = tmp_path / "archive", tmp_path / "data.mdb"
    history.write_bytes(b"1")
    told: list[str] = []

    async def scenario() -> None:
        watching = asyncio.create_task(node_source.watch_past(archive, history, lambda: told.append("told")))
        await asyncio.sleep(0.01)
        for change, expected in (
            (lambda: history.write_bytes(b"22"), False),
            (lambda: write_archive(archive, packed_blocks(1, 9), 10), True),
            (lambda: (archive / "partial" / "blocks-0000000010").write_bytes(b"3"), False),
            (lambda: write_archive(archive, packed_blocks(10, 19), 10, 10), True),
            (lambda: (history.rename(tmp_path / "former"), history.write_bytes(b"1")), True),
        ):
            told.clear()
            change()
            for _ in range(2_000 if expected else 20):
                await asyncio.sleep(0.001)
                if told:
                    break
            assert bool(told) is expected
        watching.cancel()

    asyncio.run(scenario())
