"""`ledgerd markets rebuild`: what is kept of markets is the same as where it was kept from the first block on."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.offline import replay as replaying
from ledgerd.cli import main
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.market_rebuild import REBUILD_FOLDER, replay_beside
from ledgerd.projections.reading import ProjectionReader
from ledgerd.projections.tables.market_records import (
    PM_KLINE_CHUNKS,
    PM_LABEL_COUNTS,
    PM_MARKET_META,
    PM_OPEN_BOOKS,
    PM_PLACED_MARKETS,
    PM_RECENT_POINTS,
    PM_RECORDS_SINCE,
)
from ledgerd.state.tables.tables import Table
from ledgerd.supervision.this_process import SEARCHED_AT
from tests.recorded import recorded_log
from tests.snapshot.recorded import recorded_file

NAME, HEIGHT, SWITCHED_ON = "open-pm2", 170, 100
PLUGIN = "plugin = prediction_market_api\n"
TABLES: tuple[Table[Any], ...] = (
    PM_MARKET_META,
    PM_KLINE_CHUNKS,
    PM_RECORDS_SINCE,
    PM_LABEL_COUNTS,
    PM_OPEN_BOOKS,
    PM_RECENT_POINTS,
    PM_PLACED_MARKETS,
)
"""All that is kept of markets beside the ledger."""


class Interrupted(Exception):
    """The operator interrupted the rebuild."""


def configure(folder: Path, plugin: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.ini").write_text(f"chain = testnet\nshared-file-size = 64M\n{plugin}")


def replay(folder: Path, to: int) -> None:
    log = folder / "recorded"
    log.write_bytes(recorded_log(NAME))
    assert main(["replay", "--block-log", str(log), "--data-dir", str(folder), "--trust-log", "--to", str(to)]) == 0


def kept(folder: Path) -> list[list[str]]:
    with ProjectionReader(folder / STATE_FOLDER) as reader, reader.snapshot() as state:
        return [list(map(repr, state.scan(table))) for table in TABLES]


def test_a_rebuild_gives_what_was_missed_while_the_plugin_was_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, late = tmp_path / "whole", tmp_path / "late"
    configure(whole, PLUGIN)
    replay(whole, HEIGHT)
    configure(late, "")
    replay(late, SWITCHED_ON)
    configure(late, PLUGIN)
    replay(late, HEIGHT)
    assert kept(late) != kept(whole)
    assert kept(late)[2] == [f"PmRecordsSince(id=0, block={SWITCHED_ON + 1})"]

    gc.set_threshold(700)
    assert main(["markets", "rebuild", "--data-dir", str(late)]) == 0
    assert gc.get_threshold()[0] == SEARCHED_AT

    assert f"complete from block 1 to block {HEIGHT}" in capsys.readouterr().out
    assert kept(late) == kept(whole)
    assert all(kept(late))
    replay(late, HEIGHT + 10)
    replay(whole, HEIGHT + 10)
    assert kept(late) == kept(whole)


def test_an_interrupted_rebuild_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, late = tmp_path / "whole", tmp_path / "late"
    configure(whole, PLUGIN)
    replay(whole, HEIGHT)
    configure(late, "")
    replay(late, HEIGHT)
    configure(late, PLUGIN)
    monkeypatch.setattr(replaying, "BLOCKS_A_COMMIT", 50)

    def interrupt(height: int) -> None:
        if height >= SWITCHED_ON:
            raise Interrupted

    configuration = read_configuration({"data-dir": [str(late)]}, late)
    with (
        Chain.open(late, network_of(configuration), clock=lambda: 0.0) as chain,
        pytest.raises(Interrupted),
    ):
        replay_beside(chain, late, configuration, interrupt)
    before = kept(late)

    assert main(["markets", "rebuild", "--data-dir", str(late)]) == 0

    assert not any(before)
    assert f"{HEIGHT - SWITCHED_ON} blocks replayed" in capsys.readouterr().out
    assert kept(late) == kept(whole)


def test_without_the_plugin_there_is_nothing_to_rebuild(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(tmp_path / "data", "")
    assert main(["markets", "rebuild", "--data-dir", str(tmp_path / "data")]) == 1
    assert "add prediction_market_api to the plugins" in capsys.readouterr().err


def test_a_chain_that_began_with_a_snapshot_is_told_from_which_block_its_records_are_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    configure(data, PLUGIN)
    snapshot = tmp_path / "begin.vizjson"
    snapshot.write_bytes(recorded_file("open-2-120"))
    assert main(["snapshot", "import", "--data-dir", str(data), str(snapshot)]) == 0

    assert main(["markets", "rebuild", "--data-dir", str(data)]) == 1

    told = capsys.readouterr().err
    assert "began with a snapshot" in told
    assert "complete from block 121 on" in told
    assert not (data / REBUILD_FOLDER).exists()
    assert kept(data)[2] == ["PmRecordsSince(id=0, block=121)"]
