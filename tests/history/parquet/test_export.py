"""The files of an export have what the history has, however it was interrupted.

A usual run kills an export twice three times; `KILLS=50 scripts/test tests/history/parquet/test_export.py` fifty times.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from ledgerd.basics.durable import put_in_place
from ledgerd.codec import codec_of
from ledgerd.history.columns.rows import BlockRows
from ledgerd.history.parquet import export, folder
from ledgerd.history.parquet.folder import LIST, range_of
from ledgerd.history.parquet.schema import SCHEMAS
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations import Operation
from tests.history.parquet.exporting import CHAIN_ID, export_of, exported, files_of, rows_of
from tests.patience import PATIENCE
from tests.recorded import ANSWERED, recorded_answers
from tests.rpc.api.serving import copy_followed

ROOT = Path(__file__).resolve().parents[3]
CHAIN = "open-main"
USUAL = ("open-hf0", CHAIN, "open-pm2")
KILLS = int(os.environ.get("KILLS", "2"))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("node")
    copy_followed(CHAIN, ANSWERED[CHAIN], place)
    return place


@pytest.fixture(scope="module")
def last(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """The last irreversible block."""
    with export_of(data_dir, tmp_path_factory.mktemp("none")) as run:
        return run.blocks(None, None).last


@pytest.mark.parametrize("name", ANSWERED if "EVERY_CHAIN" in os.environ else USUAL)
def test_every_operation_is_the_one_that_the_reference_answered(name: str, tmp_path: Path) -> None:
    data_dir, to = tmp_path / "node", tmp_path / "files"
    data_dir.mkdir()
    copy_followed(name, ANSWERED[name], data_dir)
    blocks = exported(data_dir, to, blocks_per_file=100).blocks
    answers = recorded_answers(name, ANSWERED[name])["get_ops_in_block"]
    found: dict[int, list[object]] = {number: [] for number in range(blocks.first, blocks.last + 1)}
    for row in rows_of(to, "operations"):
        time_text = row["time"].strftime("%Y-%m-%dT%H:%M:%S")
        numbers = [row[each] for each in ("block", "trx_in_block", "op_in_trx", "virtual_op")]
        operation = [row["type"], json.loads(row["body"])]
        found[row["block"]].append([row["transaction_id"], *numbers, time_text, operation])
        assert json.loads(codec_of(Operation).to_json(codec_of(Operation).decode(row["packed"]))) == operation
    assert blocks.last > 100
    for number, operations in found.items():
        expected = [
            [
                None if each["trx_id"] == "0" * 40 else each["trx_id"],
                each["block"],
                each["trx_in_block"],
                each["op_in_trx"],
                each["virtual_op"],
                each["timestamp"],
                each["op"],
            ]
            for each in json.loads(answers[number, False])
        ]
        assert operations == expected


def test_a_later_export_adds_what_is_new_and_ends_in_the_same_bytes(data_dir: Path, last: int, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    exported(data_dir, whole, blocks_per_file=200)
    added = [exported(data_dir, parts, last=until, blocks_per_file=200).added for until in (1, 150, 199, 200, 420)]
    result = exported(data_dir, parts)

    assert added == [1, 149, 49, 1, 220]
    assert result.added == last - 420
    assert files_of(parts) == files_of(whole)
    assert exported(data_dir, parts).files == 0


def test_files_say_which_blocks_they_have(data_dir: Path, last: int, tmp_path: Path) -> None:
    exported(data_dir, tmp_path, blocks_per_file=500)
    for table in SCHEMAS:
        files = sorted((tmp_path / table).iterdir())
        assert [each.name for each in files] == [
            f"{table}-0000000000-0000000499.parquet",
            f"{table}-0000000500-0000000999.parquet",
        ]
        told = [pq.read_schema(each).metadata for each in files]
        assert [(each[b"ledgerd.first"], each[b"ledgerd.last"]) for each in told] == [
            (b"1", b"499"),
            (b"500", str(last).encode()),
        ]
        assert {each[b"ledgerd.chain"] for each in told} == {CHAIN_ID.hex().encode()}
        assert {each[b"ledgerd.version"] for each in told} == {version("ledgerd").encode()}
    numbers = [row["block"] for row in rows_of(tmp_path, "blocks")]
    assert numbers == list(range(1, last + 1))


def test_an_export_may_begin_and_end_where_it_is_told_to(data_dir: Path, tmp_path: Path) -> None:
    exported(data_dir, tmp_path, 250, 260)
    assert [row["block"] for row in rows_of(tmp_path, "blocks")] == list(range(250, 261))


@pytest.fixture(scope="module")
def whole(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All blocks, fifty a file, written without an interruption."""
    folder = tmp_path_factory.mktemp("whole")
    exported(data_dir, folder, blocks_per_file=50)
    return folder


@pytest.mark.parametrize("seed", range(KILLS))
def test_after_kills_it_ends_in_the_same_bytes(seed: int, data_dir: Path, whole: Path, tmp_path: Path) -> None:
    random, to = Random(seed), tmp_path / "killed"  # noqa: S311 - moments to kill at
    for _ in range(3):
        words = [sys.executable, "-m", "tests.history.parquet.victim", str(data_dir), str(to)]
        victim = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
        assert victim.stdout is not None
        victim.stdout.readline()  # it begins to write
        time.sleep(random.random() * 0.3)
        victim.send_signal(signal.SIGKILL)
        victim.wait(PATIENCE)
        victim.stdout.close()
    exported(data_dir, to, blocks_per_file=50)
    assert files_of(to) == files_of(whole)


def refused(data_dir: Path, to: Path, *, first: int | None = None, last: int | None = None, size: int = 100) -> str:
    with pytest.raises(OperatorError) as problem:
        exported(data_dir, to, first, last, size)
    return str(problem.value)


def test_what_cannot_be_exported_is_said(data_dir: Path, last: int, tmp_path: Path) -> None:
    assert refused(data_dir, tmp_path / "a", last=last + 1) == (
        f"--until: the last irreversible block of the history is {last}"
    )
    assert refused(data_dir, tmp_path / "a", first=20, last=10) == "--until: block 10 comes before the first, 20"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    assert refused(data_dir, tmp_path / "other").startswith("--to: ")
    exported(data_dir, tmp_path / "b", 10, 20, 100)
    before = files_of(tmp_path / "b")
    assert refused(data_dir, tmp_path / "b", first=5) == (
        "--from: the files begin with block 10: export into a new folder"
    )
    assert refused(data_dir, tmp_path / "b", size=50) == (
        f"--blocks-per-file: a file in {tmp_path / 'b'} has 100 blocks, not 50"
    )
    with pytest.raises(OperatorError, match="another chain"), export_of(data_dir, tmp_path / "b", 100, bytes(32)):
        pass
    assert files_of(tmp_path / "b") == before
    told = tmp_path / "b" / LIST
    told.write_text(told.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    assert "version 2 of the schema" in refused(data_dir, tmp_path / "b")


def test_a_folder_that_cannot_be_written_loses_nothing(data_dir: Path, tmp_path: Path) -> None:
    exported(data_dir, tmp_path, last=120, blocks_per_file=100)
    before = files_of(tmp_path)
    (tmp_path / "votes").rename(tmp_path / "elsewhere")
    (tmp_path / "votes").write_text("no folder")
    with pytest.raises(OSError, match="votes"):
        exported(data_dir, tmp_path)
    (tmp_path / "votes").unlink()
    (tmp_path / "elsewhere").rename(tmp_path / "votes")
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("bound", ["ROWS_A_GROUP", "BYTES_A_GROUP"])
def test_no_more_is_in_memory_than_a_group(
    bound: str, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, groups, last = tmp_path / "whole", tmp_path / "groups", 100
    exported(data_dir, whole, last=last)
    monkeypatch.setattr(export, bound, 1)
    exported(data_dir, groups, last=last)
    for table in SCHEMAS:
        assert rows_of(groups, table) == rows_of(whole, table)
    (file,) = (groups / "blocks").glob("*.parquet")
    assert pq.read_metadata(file).num_row_groups == last
    assert pq.read_metadata(whole / "blocks" / file.name).num_row_groups == 1


def test_blocks_without_operations_fill_a_group_too() -> None:
    rows = BlockRows(HistorySettings())
    rows.packed_bytes = export.BYTES_A_GROUP - 1
    assert not export.is_full(rows)
    rows.packed_bytes += 1
    assert export.is_full(rows)
    rows.packed_bytes = 0
    rows.tables["blocks"] += [()] * export.ROWS_A_GROUP
    assert export.is_full(rows)


def test_two_exports_do_not_write_into_one_folder(data_dir: Path, tmp_path: Path) -> None:
    with export_of(data_dir, tmp_path):
        assert refused(data_dir, tmp_path) == f"another export writes into {tmp_path}"
    exported(data_dir, tmp_path)


def test_an_export_killed_before_its_first_range_keeps_its_blocks_per_file(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(monkeypatch, data_dir, tmp_path, placed=len(SCHEMAS))
    assert refused(data_dir, tmp_path, size=100).startswith("--blocks-per-file: ")
    exported(data_dir, tmp_path)
    assert len(list((tmp_path / "blocks").glob("*.parquet"))) == 18


def test_tables_that_a_kill_left_of_different_ends_are_written_again(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, whole = tmp_path / "killed", tmp_path / "whole"
    exported(data_dir, to, last=120, blocks_per_file=50)
    exported(data_dir, whole, last=120, blocks_per_file=50)
    killed_at(monkeypatch, data_dir, to, placed=3)
    assert files_of(to) != files_of(whole)
    assert exported(data_dir, to, last=120).added == 0
    assert files_of(to) == files_of(whole)
    killed_at(monkeypatch, data_dir, to, placed=2 * len(SCHEMAS) + 2)
    exported(data_dir, to, last=199)
    assert {each.name[-18:-8] for each in to.rglob("*.parquet")} == {
        "0000000049",
        "0000000099",
        "0000000149",
        "0000000199",
    }


def killed_at(monkeypatch: pytest.MonkeyPatch, data_dir: Path, to: Path, placed: int) -> None:
    """An export that ends when it has put so many files in place, before it says so in the list."""
    names = iter(range(placed))

    def put(unfinished: Path, file: Path) -> None:
        if file.suffix == ".parquet" and next(names, None) is None:
            raise KeyboardInterrupt
        if file.name == LIST and placed == len(SCHEMAS) and file.exists():
            raise KeyboardInterrupt
        put_in_place(unfinished, file)

    with monkeypatch.context() as patch:
        patch.setattr(export, "put_in_place", put)
        patch.setattr(folder, "put_in_place", put)
        with pytest.raises(KeyboardInterrupt):
            exported(data_dir, to, blocks_per_file=50)


def test_balances_that_began_anew_are_not_mixed_with_former_ones(data_dir: Path, tmp_path: Path) -> None:
    exported(data_dir, tmp_path, last=250, blocks_per_file=100)
    told = tmp_path / LIST
    told.write_text(re.sub(r'"balances_from": \w+', '"balances_from": 57', told.read_text()))
    assert "balances begin anew after block 0" in refused(data_dir, tmp_path)


def test_ranges_begin_at_multiples() -> None:
    assert [range_of(number, 10) for number in (1, 9, 10)] == [(0, 9), (0, 9), (10, 19)]
