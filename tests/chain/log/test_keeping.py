"""Which log a chain keeps: all of it from the first block, or the latest blocks where it began with a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.opening import open_log
from ledgerd.chain.log.rolling import RollingBlockLog, append_irreversible, trim
from ledgerd.chain.log.state_blocks import LATEST, StateBlocks
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from tests.chain.networks import SMALL, Network
from tests.recorded import recorded_blocks

BLOCKS = recorded_blocks("open-2")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Network]:
    network = Network(tmp_path / "source")
    network.start()
    network.produce(20)
    yield network
    network.chain.close()


def standing(irreversible: int, head: int, head_id: BlockId) -> StateBlocks:
    """A state that began with a snapshot and knows one block by its id."""
    return StateBlocks(
        irreversible, head, LATEST, 0, lambda _: None, lambda number: head_id if number == head else NO_BLOCK
    )


def begin_with_snapshot(source: Network, folder: Path) -> None:
    """A data directory whose state is that of another node."""
    file = BytesIO()
    head = source.chain.block_at(source.chain.head_number)
    export(source.chain.parts.store, file, Occasion(source.chain.network.chain_id, 0, head))
    with Store.open(folder / STATE_FOLDER, STORED_TABLES, space=SMALL) as store:
        load(store, Snapshot.from_bytes(file.getvalue()), source.chain.network)
        store.commit()


def test_a_chain_from_genesis_keeps_every_block(source: Network) -> None:
    log = source.chain.block_log
    assert not isinstance(log, RollingBlockLog)
    assert [log.read(number) is not None for number in range(1, source.chain.irreversible + 1)] == [
        True
    ] * source.chain.irreversible
    source.reopen()
    assert not isinstance(source.chain.block_log, RollingBlockLog)


def test_a_chain_that_began_with_a_snapshot_keeps_the_latest_blocks(source: Network, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    begin_with_snapshot(source, folder)
    first = source.chain.head_number + 1
    blocks = source.produce(12)
    with Chain.open(folder, source.chain.network, clock=source.clock, space=SMALL, rolling_blocks=3) as chain:
        for block in blocks:
            chain.push_block(block).or_raise()
        assert chain.head_id == source.chain.head_id
        log = chain.block_log
        assert isinstance(log, RollingBlockLog)
        assert log.head_number == chain.irreversible
        assert 3 <= log.count <= 6
        assert log.read(first) is None
    with Chain.open(folder, source.chain.network, clock=source.clock, space=SMALL, rolling_blocks=3) as chain:
        assert isinstance(chain.block_log, RollingBlockLog)
        assert chain.head_id == source.chain.head_id


def test_a_rolling_log_of_no_blocks_is_not_written(source: Network, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    begin_with_snapshot(source, folder)
    blocks = source.produce(3)
    with Chain.open(folder, source.chain.network, clock=source.clock, space=SMALL, rolling_blocks=0) as chain:
        for block in blocks:
            chain.push_block(block).or_raise()
        assert chain.head_id == source.chain.head_id
        assert chain.block_log.head_number == 0


def test_blocks_that_the_log_has_already_are_skipped(tmp_path: Path) -> None:
    log = open_log(tmp_path, standing(0, 0, NO_BLOCK), 3)
    append_irreversible(log, list(enumerate(BLOCKS[:5], 1)), 3)
    append_irreversible(log, list(enumerate(BLOCKS[:7], 1)), 3)
    trim(log, 3)
    assert [log.read(number) for number in range(1, 8)] == list(BLOCKS[:7])
    log.close()


def test_a_rolling_log_that_is_ahead_is_kept_where_it_continues_the_state(source: Network, tmp_path: Path) -> None:
    """A kill between the log and the commit leaves it ahead; it is dropped only where it belongs to something else."""
    blocks = source.produce(6)
    first = blocks[0].number
    written = RollingBlockLog.open(tmp_path)
    append_irreversible(written, [(block.number, block.packed) for block in blocks], 10)
    written.close()

    log = open_log(tmp_path, standing(first, first + 2, blocks[2].id), 10)
    assert (log.first_number, log.head_number) == (first, first + 5)
    log.close()
    log = open_log(tmp_path, standing(first, first + 2, blocks[1].id), 10)
    assert log.head_number == 0
    log.close()


def test_a_rolling_log_begins_anew_behind_a_gap(tmp_path: Path) -> None:
    log = open_log(tmp_path, standing(90, 100, NO_BLOCK), 10)
    assert isinstance(log, RollingBlockLog)
    append_irreversible(log, [(number, BLOCKS[number - 1]) for number in range(91, 95)], 10)
    append_irreversible(log, [(number, BLOCKS[number - 1]) for number in range(97, 99)], 10)
    assert (log.first_number, log.head_number) == (97, 98)
    log.close()
