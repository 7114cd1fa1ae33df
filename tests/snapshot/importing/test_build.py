"""Building a state: what it holds, what it serves at once and after a restart, and that a failure leaves nothing."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Applied, Unlinked
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.directory import name_of
from ledgerd.snapshot.file.export import Occasion, create, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing import build
from ledgerd.snapshot.importing.beside import processes_beside
from ledgerd.snapshot.importing.build import FEWEST_RECORDS, build_state, read_snapshot
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import REVERSIBLE_BLOCKS
from ledgerd.supervision.asking import AskedProcesses
from tests.chain.networks import SMALL, Network
from tests.chain.whole_state import first_change, whole_state

BLOCKS = 20


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """A node that serves; the snapshot of its state is `file`."""
    network = Network(tmp_path_factory.mktemp("source"))
    network.start()
    network.produce(BLOCKS)
    yield network
    network.chain.close()


@pytest.fixture(scope="module")
def file(source: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshots") / name_of(source.chain.head_number)
    source.chain.close()
    folder = source.folder / STATE_FOLDER
    create(folder, folder, source.chain.network, path, 1_700_000_000)
    source.reopen()
    return path


@pytest.fixture(scope="module")
def built(source: Network, file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that begins with the snapshot."""
    folder = tmp_path_factory.mktemp("built")
    build_state(folder / STATE_FOLDER, read_snapshot(file), source.chain.network, SMALL)
    return folder


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(built, tmp_path, dirs_exist_ok=True))


def opened(source: Network, data: Path, rolling_blocks: int = 100) -> Chain:
    return Chain.open(data, source.chain.network, clock=source.clock, space=SMALL, rolling_blocks=rolling_blocks)


def test_a_snapshot_has_the_head_block_of_its_state(source: Network, file: Path) -> None:
    snapshot = read_snapshot(file)

    assert (snapshot.head_number, snapshot.head_id) == (source.chain.head_number, source.chain.head_id)
    assert dict(snapshot.records())["fork_db_head_block"]
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_it_serves_its_head_at_once_and_after_every_restart(source: Network, data: Path) -> None:
    """As in the reference, whose rolling log begins with the head block of the snapshot (spec 06, section 12.4)."""
    head, head_block = source.chain.head_number, source.chain.block_at(source.chain.head_number)
    assert head_block is not None

    for _ in range(3):
        with opened(source, data) as chain:
            peers = ChainAccess(chain, 0)
            assert (peers.earliest, peers.latest, peers.head_number, peers.lib_number) == (head, head, head, head)
            assert peers.lib_id == bytes(20)
            assert peers.read(head) == head_block.packed
            assert peers.read(head - 1) is None
            assert peers.is_known(source.chain.head_id)


def test_in_an_emergency_it_says_so_as_only_pruned_nodes_do(source: Network, data: Path) -> None:
    for chain, is_told in ((opened(source, data), True), (source.chain, False)):
        globals_ = chain.globals
        with chain.parts.ledger.editing(globals_):
            globals_.emergency_consensus_active = True
        assert ChainAccess(chain, 0).is_emergency is is_told
        with chain.parts.ledger.editing(globals_):
            globals_.emergency_consensus_active = False
        if chain is not source.chain:
            chain.close()


def test_the_log_that_was_there_goes_on_where_the_head_continues_it(source: Network, data: Path) -> None:
    head = source.chain.head_number
    rolling = RollingBlockLog.open(data / STATE_FOLDER)
    for number in range(head - 4, head):
        block = source.chain.block_at(number)
        assert block is not None
        rolling.append(number, block.packed)
    rolling.close()

    with opened(source, data) as chain:
        assert (chain.block_log.first_number, chain.block_log.head_number) == (head - 4, head)


def test_the_log_that_was_there_is_dropped_where_there_is_a_gap(source: Network, data: Path) -> None:
    rolling = RollingBlockLog.open(data / STATE_FOLDER)
    for number in (3, 4, 5):
        block = source.chain.block_at(number)
        assert block is not None
        rolling.append(number, block.packed)
    rolling.close()

    with opened(source, data) as chain:
        assert chain.block_log.first_number == chain.block_log.head_number == chain.head_number


def test_without_a_log_the_latest_blocks_stay_in_the_state_alone(source: Network, data: Path) -> None:
    head = source.chain.head_number
    with opened(source, data, rolling_blocks=0) as chain:
        begun = chain.head_number
    for _ in range(2):
        with opened(source, data, rolling_blocks=0) as chain:
            assert chain.block_at(chain.head_number) is not None
            for number in range(chain.head_number + 1, head + 1):
                block = source.chain.block_at(number)
                assert block is not None
                assert chain.push_block(block).has_moved
            assert chain.head_number == head
            kept = [each.number for each in chain.parts.store.scan(REVERSIBLE_BLOCKS)]
            assert kept == list(range(begun, head + 1))
        head = head + len(source.produce(4))
    assert RollingBlockLogReader.open(data / STATE_FOLDER).head_number == 0


@pytest.mark.parametrize(("fewest", "begun"), [(1, 2), (FEWEST_RECORDS, 0)])
def test_other_processes_take_a_part_of_a_large_snapshot(
    source: Network, file: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fewest: int, begun: int
) -> None:
    """A small one is read before they have begun."""
    counts = list[int]()

    def processes(network: ChainParameters, count: int) -> AskedProcesses:
        counts.append(count)
        return processes_beside(network, count)

    monkeypatch.setattr(build, "FEWEST_RECORDS", fewest)
    monkeypatch.setattr(build, "processes_beside", processes)
    build_state(tmp_path / "together", read_snapshot(file), source.chain.network, SMALL, processes=2)

    assert counts == [begun]
    with (
        Store.open(tmp_path / "together", STORED_TABLES) as together,
        Store.open(data / STATE_FOLDER, STORED_TABLES) as alone,
    ):
        assert first_change(whole_state(alone), whole_state(together)) is None


def test_a_failed_import_leaves_no_files(source: Network, tmp_path: Path, file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    broken = tmp_path / "broken.vizjson"
    broken.write_bytes(raw)

    for each in (broken, tmp_path / "none"):
        with pytest.raises(SnapshotError):
            build_state(tmp_path / "built", read_snapshot(each), source.chain.network, SMALL)

    assert not (tmp_path / "built").exists()


def test_a_node_goes_on_from_a_snapshot_that_lacks_its_head_block(tmp_path: Path) -> None:
    """Blocks that come in the wrong order too, and after a restart (spec 10, section 9.1)."""
    source = Network(tmp_path / "source")
    source.start()
    file = io.BytesIO()
    export(source.chain.parts.store, file, Occasion(source.chain.network.chain_id, 0, None))
    data = tmp_path / "data"
    build_state(data / STATE_FOLDER, Snapshot.from_bytes(file.getvalue()), source.chain.network, SMALL)
    head, blocks = source.chain.head_id, source.produce(4)
    with opened(source, data) as chain:
        assert chain.parts.blocks.fetch(head) is None
        assert isinstance(chain.push_block(blocks[1]), Unlinked)
        assert isinstance(chain.push_block(blocks[0]), Applied)
        assert chain.head_id == blocks[1].id
        assert chain.push_block(blocks[2]).has_moved
    with opened(source, data) as chain:
        assert chain.push_block(blocks[3]).has_moved
        assert chain.head_id == source.chain.head_id
    source.chain.close()
