"""Sizes of files and folders."""

from __future__ import annotations

from pathlib import Path

from ledgerd.metrics.table import storage as table
from ledgerd.node.parts.watching.metrics import KeptPlace, StorageGauges
from tests.metrics.memories import node_memory

KILO = bytes(4096)


def places(folder: Path) -> dict[str, KeptPlace]:
    return {
        table.STATE: KeptPlace(folder / "state" / "data.mdb"),
        table.BLOCK_LOG: KeptPlace(folder / "state", without=("data.mdb",)),
        table.SNAPSHOTS: KeptPlace(folder / "snapshots"),
    }


def test_what_is_there_has_its_size_and_what_is_not_has_none(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "data.mdb").write_bytes(KILO * 3)
    (tmp_path / "state" / "block_log").write_bytes(KILO)
    (tmp_path / "snapshots").mkdir()
    for number in (5, 40):
        (tmp_path / "snapshots" / f"snapshot-block-{number}.vizjson").write_bytes(KILO)
    with node_memory() as node:
        StorageGauges(node.main(), places(tmp_path)).sample()
        values = node.values()

    stored = {labels[0]: numbers[0] for labels, numbers in values[table.STORED_BYTES.name].items()}
    assert stored[table.STATE] == 3 * stored[table.BLOCK_LOG] > 0
    assert set(stored) == {table.STATE, table.BLOCK_LOG, table.SNAPSHOTS}
    assert (values[table.SNAPSHOT_COUNT.name], values[table.SNAPSHOT_BLOCK.name]) == ({(): [2.0]}, {(): [40.0]})
    free, whole = (values[each.name][table.STATE,][0] for each in (table.FREE_BYTES, table.DISK_BYTES))
    assert 0 < free <= whole


def test_folders_that_do_not_exist_are_no_failure(tmp_path: Path) -> None:
    with node_memory() as node:
        StorageGauges(node.main(), places(tmp_path / "nothing")).sample()
        values = node.values()

    assert table.SNAPSHOT_BLOCK.name not in values
    assert table.FREE_BYTES.name not in values
