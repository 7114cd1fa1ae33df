"""Starting from a snapshot, and restarting from a newer one: from peers in this process, over loopback."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node import lifecycle
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.datadir.state_files import NEW, OLD_BLOCKS
from ledgerd.node.parts import snapshots
from ledgerd.node.parts.bootstrap import BootstrapPart, FetchedState, WantedState, fetched_state
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.runtime import Runtime
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.exchange import stalls
from ledgerd.snapshot.exchange.client import Fetched
from ledgerd.snapshot.exchange.server import ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.server_session import AdmissionControl
from ledgerd.snapshot.file.container import StateWriter
from ledgerd.snapshot.file.directory import name_of
from ledgerd.supervision.work import Sleep
from tests.node.contexts import context_of
from tests.node.parts.two_snapshots import Made, begun_with
from tests.patience import PATIENCE

HOST = "127.0.0.1"


@asynccontextmanager
async def serving(*folders: Path) -> AsyncIterator[list[int]]:
    """A peer for each directory of snapshots; their ports."""
    servers = [SnapshotServer(ServedSnapshot(folder), AdmissionControl(is_limited=False)) for folder in folders]
    try:
        yield [await server.start(HOST, 0) for server in servers]
    finally:
        for server in servers:
            await server.stop()


def configured(data: Path, ports: list[int], **options: str) -> Configuration:
    words = {
        "data-dir": [str(data)],
        "chain": ["testnet"],
        "plugin": ["snapshot"],
        "shared-file-size": ["64M"],
        "sync-snapshot-from-trusted-peer": ["true"],
        "trusted-snapshot-peer": [f"{HOST}:{port}" for port in ports],
        **{name.replace("_", "-"): [text] for name, text in options.items()},
    }
    return read_configuration(words, data)


async def begin(configuration: Configuration, sleep: Sleep = asyncio.sleep) -> int:
    """Start the chain and what fetches its first state; the head that it has then."""
    chain = ChainPart(context_of(ChainPart, configuration))
    await chain.start()
    context = context_of(BootstrapPart, configuration)
    part = BootstrapPart(context, chain, sleep=sleep)
    try:
        await part.start()
        if len(part.work):
            await context.newer_state.wait()
            assert NEW in tree(chain.folder)
        return await chain.run(lambda: chain.chain.head_number)
    finally:
        await part.stop()
        await chain.stop()


def in_time(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await main()

    asyncio.run(bounded())


def tree(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def no_state(folder: Path) -> Path:
    """A file whose checksum is right, and that is no state."""
    with StateWriter() as writer:
        writer.add('{"account":[{"id":"zero"}]}')
        header = f'{{"version":1,"chain_id":"{"00" * 32}","snapshot_block_num":999,"snapshot_block_id":"{"00" * 20}",'
        header += f'"payload_checksum":"{writer.checksum}"}}'
        folder.mkdir()
        path = folder / name_of(999)
        path.write_bytes(b"".join(writer.finish(header)))
    return path


def test_a_node_begins_with_the_newest_snapshot_that_can_be_taken(made: Made, tmp_path: Path) -> None:
    data, bad = tmp_path / "data", no_state(tmp_path / "bad")
    data.mkdir()
    folders = (made.older.parent, bad.parent, made.newer.parent)

    async def main() -> None:
        async with serving(*folders) as ports:
            assert await begin(configured(data, ports)) == made.heads()[1]

    in_time(main)
    assert tree(data / "snapshots") == [made.newer.name]
    assert NEW not in tree(data / STATE_FOLDER)


def test_a_snapshot_that_was_fetched_before_is_not_fetched_again(made: Made, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "snapshots").mkdir(parents=True)
    (data / "snapshots" / made.newer.name).write_bytes(made.newer.read_bytes())
    before = (data / "snapshots" / made.newer.name).stat().st_mtime_ns

    async def main() -> None:
        async with serving(made.newer.parent) as ports:
            assert await begin(configured(data, ports)) == made.heads()[1]

    in_time(main)
    assert (data / "snapshots" / made.newer.name).stat().st_mtime_ns == before


def test_peers_are_asked_again_beside_the_node_until_one_has_a_state(made: Made, tmp_path: Path) -> None:
    data, shelf, slept = tmp_path / "data", tmp_path / "shelf", list[float]()
    data.mkdir()
    no_state(shelf)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            shutil.copy(made.newer, shelf)
            (shelf / name_of(999)).unlink()

    async def main() -> None:
        async with serving(shelf) as ports:
            assert await begin(configured(data, ports, stalled_sync_timeout_minutes="7"), sleep) == 0

    in_time(main)
    assert slept == [420, 420, 420]
    assert tree(data / "snapshots") == [made.newer.name]


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def main() -> None:
        with pytest.raises(OperatorError, match=r"snapshot-dir .*file/snapshots: cannot be made"):
            await begin(configured(tmp_path, [9], snapshot_dir=str(tmp_path / "file" / "snapshots")))

    in_time(main)


@pytest.mark.parametrize(
    "options",
    [{"sync_snapshot_from_trusted_peer": "false"}, {"plugin": "database_api"}],
)
def test_nobody_is_asked_unless_the_options_say_so(tmp_path: Path, options: dict[str, str]) -> None:
    async def main() -> None:
        assert await begin(configured(tmp_path, [9], **options)) == 0

    in_time(main)


def test_a_state_or_a_block_log_is_a_beginning(made: Made, tmp_path: Path) -> None:
    logged, stated = tmp_path / "logged", tmp_path / "stated"
    (logged / STATE_FOLDER).mkdir(parents=True)
    for name in ("block_log", "block_log.index"):
        (logged / STATE_FOLDER / name).write_bytes((made.source.folder / STATE_FOLDER / name).read_bytes())
    begun_with(stated, made.older)

    async def main() -> None:
        async with serving(made.newer.parent) as ports:
            assert await begin(configured(logged, ports)) == 0
            assert await begin(configured(stated, ports)) == made.heads()[0]

    in_time(main)


# -- a chain that stands still


async def renewed(configuration: Configuration) -> tuple[int, bool]:
    """Where a node begins, and whether it ends to begin again within a while."""
    runtime = Runtime(configuration)
    await runtime.start()
    head = await runtime.chain.run(lambda: runtime.chain.chain.head_number)
    try:
        async with asyncio.timeout(PATIENCE):
            await runtime.ended()
            assert runtime.failure is None
    except TimeoutError:
        pass
    await runtime.stop()
    return head, runtime.newer_state.is_set()


def test_a_stalled_node_starts_again_from_a_newer_snapshot(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(stalls, "ANNOUNCED_SECONDS", 0.05)
    begun_with(tmp_path, made.older)

    async def main() -> None:
        async with serving(made.newer.parent) as ports:
            options = {"enable_stalled_sync_detection": "true", "stalled_sync_timeout_minutes": "0"}
            assert await renewed(configured(tmp_path, ports, **options)) == (made.heads()[0], True)
        later = Runtime(configured(tmp_path, []))
        await later.start()
        assert await later.chain.run(lambda: later.chain.chain.head_number) == made.heads()[1]
        await later.stop()

    in_time(main)
    assert NEW not in tree(tmp_path / STATE_FOLDER)


def test_a_snapshot_that_is_not_newer_than_the_head_is_left_alone(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(stalls, "ANNOUNCED_SECONDS", 0.05)
    begun_with(tmp_path, made.newer)
    looked = asyncio.Event()

    async def find_nothing(*arguments: object, **words: object) -> FetchedState | None:
        found = await fetched_state(*arguments, **words)  # type: ignore[arg-type]
        looked.set()
        return found

    monkeypatch.setattr(snapshots, "fetched_state", find_nothing)

    async def main() -> None:
        async with serving(made.older.parent) as ports:
            options = {"enable_stalled_sync_detection": "true", "stalled_sync_timeout_minutes": "0"}
            runtime = Runtime(configured(tmp_path, ports, **options))
            await runtime.start()
            await looked.wait()
            assert not runtime.newer_state.is_set()
            await runtime.stop()

    in_time(main)


def test_a_state_that_is_overtaken_while_it_is_built_is_not_taken(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(stalls, "ANNOUNCED_SECONDS", 0.05)
    begun_with(tmp_path, made.older)
    block = made.source.chain.block_at(made.heads()[0] + 1)
    assert block is not None
    looked = asyncio.Event()

    async def overtaken(
        _configuration: Configuration, chain: ChainPart, _peers: object, wanted: WantedState
    ) -> FetchedState | None:
        if looked.is_set():
            return None
        await chain.run(lambda: chain.chain.push_block(block).or_raise())
        looked.set()
        fetched = Fetched(wanted.above + 1, made.newer, b"", Endpoint(HOST, 9))
        return FetchedState(wanted.above + 1, "", fetched)

    monkeypatch.setattr(snapshots, "fetched_state", overtaken)

    async def main() -> None:
        options = {"enable_stalled_sync_detection": "true", "stalled_sync_timeout_minutes": "0"}
        runtime = Runtime(configured(tmp_path, [9], **options))
        await runtime.start()
        await looked.wait()
        await runtime.chain.run(lambda: None)
        assert not runtime.newer_state.is_set()
        await runtime.stop()

    in_time(main)


def test_a_node_with_a_newer_state_is_started_again(made: Made, tmp_path: Path) -> None:
    """The first one is of genesis, and its full log is kept beside the newer state."""
    shutil.copytree(made.source.folder / STATE_FOLDER, tmp_path / STATE_FOLDER, ignore=shutil.ignore_patterns("*.lock"))
    nodes: list[Runtime] = []
    heads: list[int] = []

    def make(configuration: Configuration) -> Runtime:
        nodes.append(Runtime(configuration))
        return nodes[-1]

    started: list[asyncio.Task[None]] = []

    async def go_on(runtime: Runtime) -> None:
        heads.append(await runtime.chain.run(lambda: runtime.chain.chain.head_number))
        if len(nodes) == 1:
            begun_with(tmp_path / "built", made.older)
            (tmp_path / "built" / STATE_FOLDER).rename(tmp_path / STATE_FOLDER / NEW)
            runtime.newer_state.set()
        else:
            signal.raise_signal(signal.SIGTERM)

    def greet(runtime: Runtime) -> str:
        started.append(asyncio.ensure_future(go_on(runtime)))
        return ""

    code = asyncio.run(asyncio.wait_for(lifecycle.live(configured(tmp_path, []), make, greet), PATIENCE))

    assert (code, heads) == (0, [made.heads()[1], made.heads()[0]])
    assert BlockLogReader.open(tmp_path / f"{OLD_BLOCKS}-1").head_number > 0
    assert BlockLogReader.open(tmp_path / STATE_FOLDER).head_number == 0
