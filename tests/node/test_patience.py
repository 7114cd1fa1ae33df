"""A stop that takes too long ends the process, and a state found damaged is marked."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import lmdb
import pytest

from ledgerd.node import lifecycle
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.lifecycle import FATAL, STOPPED, live
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.runtime import Runtime
from ledgerd.state.errors import StoreCorrupt


class Ended(Exception):
    """In the place of the end of the process."""


def runtime_in(folder: Path) -> Runtime:
    return Runtime(read_configuration({"data-dir": [str(folder)], "chain": ["testnet"]}, folder))


@pytest.mark.parametrize(("reason", "code"), [(None, STOPPED), (StoreCorrupt("damaged"), FATAL)])
def test_a_stop_that_takes_too_long_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: StoreCorrupt | None, code: int
) -> None:
    runtime = runtime_in(tmp_path)
    codes = list[int]()

    async def hang() -> None:
        await asyncio.Event().wait()

    def end(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(lifecycle, "STOP_SECONDS", 0.01)
    monkeypatch.setattr(os, "_exit", end)
    if reason is None:
        monkeypatch.setattr(runtime, "ended", lambda: asyncio.sleep(0))
    else:
        runtime.part(PeersPart).work.fail(reason)
    stop = runtime.stop
    monkeypatch.setattr(runtime, "stop", hang)

    async def run() -> int:
        code = await live(runtime.configuration, lambda _: runtime, str)
        await stop()
        return code

    assert asyncio.run(run()) == FATAL
    assert codes == [code]


def test_damage_that_is_found_while_the_node_runs_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runtime = runtime_in(tmp_path)
    runtime.part(PeersPart).work.fail(StoreCorrupt("the state is damaged"))

    assert asyncio.run(live(runtime.configuration, lambda _: runtime, str)) == FATAL

    assert runtime.chain.files.is_marked_damaged
    assert "ledgerd: the state is damaged\n" in capsys.readouterr().err


def test_so_is_a_page_that_the_database_calls_damaged(tmp_path: Path) -> None:
    runtime = runtime_in(tmp_path)
    runtime.part(PeersPart).work.fail(lmdb.CorruptedError("mdb_get"))

    assert asyncio.run(live(runtime.configuration, lambda _: runtime, str)) == FATAL

    assert runtime.chain.files.is_marked_damaged
