"""The start options do what they say: replay, resync, snapshots, rebuilding, on a recorded chain."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.chain.offline import replay
from ledgerd.codec import codec_of
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.node.datadir.state_files import REPLACED
from ledgerd.node.runtime import Runtime
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.names import AccountName
from ledgerd.replica.copies.ownership import MARK
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.files.lock import lock_writer
from ledgerd.supervision import progress
from tests.recorded import FOLDER, recorded_blocks
from tests.state.versions import make_outdated

SNAPSHOT = FOLDER.parent / "states" / "open-2-120.vizjson"
BLOCKS = recorded_blocks("open-2")
SETTINGS = {"chain": ["testnet"], "shared-file-size": ["64M"], "plugin": ["snapshot operation_history"]}


class Directory:
    """A data directory in which a node is started again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"

    def put_log(self, last: int) -> None:
        self.state.mkdir(exist_ok=True)
        log = BlockLog.open(self.state)
        for number in range(1, last + 1):
            log.append(number, BLOCKS[number - 1])
        log.close()

    def put_rolling_log(self, first: int, last: int) -> None:
        self.state.mkdir(exist_ok=True)
        log = RollingBlockLog.open(self.state)
        for number in range(first, last + 1):
            log.append(number, BLOCKS[number - 1])
        log.close()

    def copied_snapshot(self) -> Path:
        path = self.folder / "begin.vizjson"
        shutil.copy(SNAPSHOT, path)
        return path

    @property
    def log_head(self) -> int:
        log = BlockLogReader.open(self.state)
        number = log.head_number
        log.close()
        return number

    def runtime(self, **options: str) -> Runtime:
        words = {name.replace("_", "-"): [text] for name, text in options.items()}
        return Runtime(read_configuration({**SETTINGS, "data-dir": [str(self.folder)], **words}, self.folder))

    def started(self, look: Callable[[Runtime], object] = lambda _: None, /, **options: str) -> tuple[int, StateOrigin]:
        """The head, and where the state came from, after a start and a stop."""
        runtime = self.runtime(**options)

        async def run() -> tuple[int, StateOrigin]:
            try:
                await runtime.start()
                await runtime.chain.run(lambda: look(runtime))
                return runtime.chain.chain.head_number, runtime.chain.origin
            finally:
                await runtime.stop()

        return asyncio.run(run())

    def damage(self) -> None:
        data = (self.state / DATA_FILE).read_bytes()
        (self.state / DATA_FILE).write_bytes(data[:4096] + b"\0" * (len(data) - 4096))


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(tmp_path)


def test_a_log_without_a_state_is_replayed(directory: Directory, caplog: pytest.LogCaptureFixture) -> None:
    directory.put_log(160)
    with caplog.at_level(logging.INFO):
        assert directory.started() == (160, StateOrigin.PRESENT)

    assert "Replaying blockchain from block num 1." in caplog.text
    assert "replaying: block 160 of 160 (100 %), " in caplog.text
    assert "Done reindexing, elapsed time: " in caplog.text
    assert "Started on blockchain with 160 blocks" in caplog.text


def push(blocks: Sequence[bytes]) -> Callable[[Runtime], None]:
    """Have a node take in blocks that came from a peer."""

    def look(runtime: Runtime) -> None:
        for packed in blocks:
            runtime.chain.chain.push_block(
                codec_of(Block).decode_exactly(packed), VERIFIED_BEFORE, commit=False
            ).or_raise()
        runtime.chain.chain.commit()

    return look


def test_a_replay_makes_the_state_anew_and_loses_no_block(directory: Directory) -> None:
    """The blocks that may still be taken back were in the state alone, and are in the new one afterwards."""
    blocks, network = recorded_blocks("open-main")[:400], str(FOLDER.parent / "open-main.toml")
    directory.started(push(blocks), chain=network)
    assert 0 < directory.log_head < 400

    assert directory.started(chain=network, replay_blockchain="true") == (400, StateOrigin.BLOCK_LOG)
    assert not (directory.state / REPLACED).exists()
    assert directory.started(chain=network) == (400, StateOrigin.PRESENT)


def test_a_replay_of_a_log_that_ends_far_below_keeps_the_replaced_state(directory: Directory) -> None:
    """Also through a second replay, until the chain is past its blocks."""
    network = str(FOLDER.parent / "open-main.toml")
    blocks = recorded_blocks("open-main")[:400]
    directory.started(push(blocks), chain=network)
    for path in directory.state.glob("block_log*"):
        path.unlink()
    log = BlockLog.open(directory.state)
    for number, block in enumerate(blocks[:200], 1):
        log.append(number, block)
    log.close()

    for _ in range(2):
        assert directory.started(chain=network, replay_blockchain="true")[0] == 200
        assert (directory.state / REPLACED / DATA_FILE).exists()
    directory.started(push(blocks[200:350]), chain=network)
    assert directory.started(chain=network)[0] == 400
    assert not (directory.state / REPLACED).exists()


class Interrupter(logging.Handler):
    """Asks the node to stop when a line of the log holds these words."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
        self.task: asyncio.Task[None] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        task = self.task
        if self.words in record.getMessage() and task is not None:
            self.task = None  # once: the line may come again
            asyncio.run_coroutine_threadsafe(self._cancel(task), task.get_loop()).result(60)

    async def _cancel(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        for _ in range(5):
            await asyncio.sleep(0)


def test_a_replay_that_is_stopped_goes_on_at_the_next_start(
    directory: Directory, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "STEP_SECONDS", 0.0)  # a line for each step
    monkeypatch.setattr(replay, "BLOCKS_A_COMMIT", 500)
    directory.put_log(600)
    interrupter = Interrupter("replaying: block 500 of ")
    runtime = directory.runtime(replay_blockchain="true")

    async def run() -> None:
        interrupter.task = start = asyncio.create_task(runtime.start())
        with pytest.raises(asyncio.CancelledError):
            await start

    log = logging.getLogger("ledgerd.node.parts.replaying")
    log.addHandler(interrupter)
    with caplog.at_level(logging.INFO):
        asyncio.run(run())
    log.removeHandler(interrupter)
    assert "stopped at block 500 of " in caplog.text
    assert "database closed successfully" in caplog.text
    caplog.clear()

    with caplog.at_level(logging.INFO):
        assert directory.started(replay_blockchain="true") == (600, StateOrigin.PRESENT)
    assert "Replaying blockchain from block num 501." in caplog.text


def test_a_replay_of_a_node_without_a_full_log_is_refused(directory: Directory) -> None:
    directory.started(snapshot=str(directory.copied_snapshot()))

    with pytest.raises(OperatorError, match="there is no block log in"):
        directory.started(replay_blockchain="true")

    assert directory.started() == (120, StateOrigin.PRESENT)


def test_a_node_does_not_start_on_the_copy_that_a_replica_keeps(directory: Directory) -> None:
    directory.state.mkdir(exist_ok=True)
    (directory.state / MARK).touch()
    with pytest.raises(OperatorError, match="holds the copy of a state that a replica keeps"):
        directory.started()


def test_a_resync_begins_with_nothing(directory: Directory) -> None:
    directory.put_log(160)
    directory.started()

    assert directory.started(resync_blockchain="true") == (0, StateOrigin.PRESENT)
    assert directory.log_head == 0


def test_the_state_may_lie_on_another_disk(directory: Directory) -> None:
    directory.put_log(160)
    elsewhere = directory.folder / "fast" / "disk"

    assert directory.started(shared_file_dir=str(elsewhere)) == (160, StateOrigin.PRESENT)
    assert (elsewhere / DATA_FILE).exists()
    assert not (directory.state / DATA_FILE).exists()
    assert directory.started(shared_file_dir="fast/disk", replay_blockchain="true") == (160, StateOrigin.BLOCK_LOG)
    assert directory.started(shared_file_dir="fast/disk", resync_blockchain="true") == (0, StateOrigin.PRESENT)
    copy = directory.copied_snapshot()
    (elsewhere / DATA_FILE).unlink()
    assert directory.started(shared_file_dir="fast/disk", snapshot=str(copy)) == (120, StateOrigin.SNAPSHOT)
    assert (elsewhere / DATA_FILE).exists()


def test_the_initial_distribution_may_lie_in_the_data_directory(directory: Directory) -> None:
    """With a comma too many, as in the file that the reference comes with."""
    key = "VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8"
    account = f'{{"login":"zoe","public_key":"{key}","shares_amount":"5000"}}'
    file = directory.folder / "snapshot.json"
    file.write_text(f'{{"accounts":[{account},]}}')

    names = list[bool]()
    directory.started(
        lambda runtime: names.extend(
            runtime.chain.chain.parts.ledger.find_account(AccountName(name)) is not None for name in ("zoe", "alice")
        )
    )
    assert names == [True, False]

    file.write_text("nonsense")
    with pytest.raises(OperatorError, match=r"snapshot.json: not JSON"):
        directory.started()


def test_a_state_that_a_command_works_on_is_left_alone(directory: Directory) -> None:
    directory.put_log(100)
    directory.started()
    with lock_writer(directory.state):
        for words in ({"resync_blockchain": "true"}, {"replay_blockchain": "true"}):
            with pytest.raises(StoreLocked, match=r"is in use by another node \(process "):
                directory.started(**words)

    assert directory.started() == (100, StateOrigin.PRESENT)


# -- snapshots


def test_a_node_begins_with_a_snapshot_and_stays_with_it(
    directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    copy = directory.copied_snapshot()
    with caplog.at_level(logging.INFO):
        assert directory.started(snapshot=str(copy)) == (120, StateOrigin.SNAPSHOT)
    assert not copy.exists()
    assert copy.with_name(copy.name + ".used").exists()
    for words in (
        "Snapshot loaded successfully in ",
        "LIB promoted to head block 120 (was ",
        "Started on blockchain with 120 blocks (from snapshot)",
    ):
        assert words in caplog.text

    assert directory.started(push(BLOCKS[120:150]), snapshot=str(SNAPSHOT))[0] == 150
    assert directory.started()[0] == 150


def test_the_newest_snapshot_is_found_by_itself(directory: Directory) -> None:
    snapshots = directory.folder / "snapshots"
    snapshots.mkdir()
    shutil.copy(SNAPSHOT, snapshots / "snapshot-block-120.vizjson")
    (snapshots / "snapshot-block-7.vizjson").write_bytes(b"older")

    assert directory.started(snapshot_auto_latest="true") == (120, StateOrigin.SNAPSHOT)


def test_a_snapshot_that_cannot_be_read_leaves_nothing_behind(directory: Directory) -> None:
    broken = directory.folder / "broken.vizjson"
    broken.write_bytes(b"no snapshot")

    with pytest.raises(OperatorError, match=f"^{broken}: the snapshot is damaged"):
        directory.started(snapshot=str(broken))

    assert not (directory.state / DATA_FILE).exists()
    assert broken.exists()


def test_a_snapshot_beyond_the_full_log_is_refused(directory: Directory) -> None:
    directory.put_log(100)

    with pytest.raises(OperatorError, match=r"stands at block 120, and the block log in .* ends at block 100"):
        directory.started(replay_from_snapshot="true", snapshot=str(SNAPSHOT))

    assert directory.started() == (100, StateOrigin.PRESENT)


def test_a_rebuild_replays_what_the_rolling_log_has_beyond_the_snapshot(directory: Directory) -> None:
    directory.put_rolling_log(100, 160)

    assert directory.started(replay_from_snapshot="true", snapshot=str(SNAPSHOT)) == (160, StateOrigin.REBUILD)
    assert SNAPSHOT.exists()
    assert directory.started() == (160, StateOrigin.PRESENT)


def test_a_rebuild_leaves_out_a_rolling_log_that_does_not_link(directory: Directory) -> None:
    directory.put_rolling_log(150, 160)

    assert directory.started(replay_from_snapshot="true", snapshot=str(SNAPSHOT)) == (120, StateOrigin.REBUILD)


# -- damage


def test_a_damaged_state_is_made_anew_from_the_log(directory: Directory, caplog: pytest.LogCaptureFixture) -> None:
    directory.put_log(160)
    directory.started()
    directory.damage()

    assert directory.started() == (160, StateOrigin.BLOCK_LOG)
    assert "replaying the block log" in caplog.text


def test_a_damaged_state_is_made_anew_from_a_snapshot(directory: Directory, caplog: pytest.LogCaptureFixture) -> None:
    snapshots = directory.folder / "snapshots"
    snapshots.mkdir()
    shutil.copy(SNAPSHOT, snapshots / "snapshot-block-120.vizjson")
    directory.put_log(400)
    directory.started()
    directory.damage()

    assert directory.started() == (400, StateOrigin.REBUILD)
    assert "rebuilding it from " in caplog.text


def test_an_unusable_snapshot_is_replaced_by_a_replay_of_the_log(
    directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    snapshots = directory.folder / "snapshots"
    snapshots.mkdir()
    (snapshots / "snapshot-block-120.vizjson").write_bytes(b"broken")
    directory.put_log(400)
    directory.started()
    directory.damage()

    assert directory.started() == (400, StateOrigin.BLOCK_LOG)
    assert f"the snapshot is of no use: {snapshots / 'snapshot-block-120.vizjson'}: " in caplog.text


def test_what_was_found_damaged_while_the_node_ran_is_made_anew(directory: Directory) -> None:
    directory.put_log(160)
    directory.started(lambda runtime: runtime.chain.files.mark_damaged())

    assert directory.started() == (160, StateOrigin.BLOCK_LOG)
    assert directory.started() == (160, StateOrigin.PRESENT)


def test_a_damaged_state_is_not_deleted_where_nothing_makes_it_anew(directory: Directory) -> None:
    directory.put_log(160)
    directory.started()
    directory.damage()

    with pytest.raises(OperatorError, match="--resync-blockchain"):
        directory.started(replay_if_corrupted="false")

    assert (directory.state / DATA_FILE).exists()


# -- a state of another version


@pytest.mark.parametrize("options", [{}, {"replay_blockchain": "true"}])
def test_a_state_of_another_version_is_made_anew_from_the_log(directory: Directory, options: dict[str, str]) -> None:
    directory.put_log(160)
    directory.started()
    make_outdated(directory.state)

    assert directory.started(**options) == (160, StateOrigin.BLOCK_LOG)
    assert directory.started() == (160, StateOrigin.PRESENT)


def test_a_state_of_another_version_stops_the_start_where_nothing_makes_it_anew(directory: Directory) -> None:
    directory.started(snapshot=str(directory.copied_snapshot()))
    make_outdated(directory.state)

    with pytest.raises(OperatorError, match=r"another version of this program.*--replay-from-snapshot --snapshot PATH"):
        directory.started()

    assert (directory.state / DATA_FILE).exists()
    assert directory.started(replay_from_snapshot="true", snapshot=str(SNAPSHOT)) == (120, StateOrigin.REBUILD)


# -- a snapshot as all that the node does


def test_a_snapshot_is_written_and_that_is_all(directory: Directory, caplog: pytest.LogCaptureFixture) -> None:
    directory.put_log(120)
    path = directory.folder / "new" / "state.vizjson"
    runtime = directory.runtime(create_snapshot=str(path), webserver_http_endpoint="127.0.0.1:0")

    async def run() -> None:
        await runtime.start()
        await runtime.stop()

    with caplog.at_level(logging.INFO):
        asyncio.run(run())

    assert runtime.is_one_shot
    assert f"Snapshot created successfully: {path} ({path.stat().st_size} bytes compressed, " in caplog.text
    assert "listening" not in caplog.text
    other = Directory(directory.folder / "other")
    assert other.started(snapshot=str(path)) == (120, StateOrigin.SNAPSHOT)
