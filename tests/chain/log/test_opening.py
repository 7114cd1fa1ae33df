"""A log that lost its end, is gone, belongs to another chain or has rotted is mended from the state, or stops the start
with what to do; nothing is lost by that.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.trunk import KEPT_BLOCKS
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.opening import LogUnfit
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from ledgerd.chain.offline.replay import replay
from ledgerd.node.datadir.state_export import write_snapshot
from ledgerd.snapshot.importing.build import build_state, read_snapshot
from tests.chain.logged_blocks import blocks_of
from tests.chain.networks import OTHERS, SEVEN, SMALL, Network, key_of, start_seven
from tests.recorded import recorded_log

WHOLE, LATEST = "block_log", "dlt_block_log"
ROLLING_BLOCKS = 400


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node with every block, far more of them irreversible than its state keeps."""
    folder = tmp_path_factory.mktemp("whole") / "node"
    network = start_seven(folder)
    with network.chain as chain:
        assert chain.irreversible > KEPT_BLOCKS + 20
    return folder


@pytest.fixture(scope="module")
def latest(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node that began with a snapshot, and has taken in so many blocks since."""
    folder = tmp_path_factory.mktemp("latest")
    source = folder / "source"
    shutil.copytree(whole, source)
    network = opened(source)
    with network.chain as chain:
        write_snapshot(chain, folder / "begin.vizjson", 0)
        blocks = network.produce(120)
    build_state(folder / "node" / STATE_FOLDER, read_snapshot(folder / "begin.vizjson"), SEVEN, SMALL)
    with open_chain(folder / "node") as chain:
        for block in blocks:
            chain.push_block(block).or_raise()
        assert chain.is_rolling
        assert chain.irreversible - chain.block_log.first_number > KEPT_BLOCKS
    return folder / "node"


@pytest.fixture
def copy(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(shutil.copytree(request.getfixturevalue(request.param), tmp_path / "copy"))


both = pytest.mark.parametrize(("copy", "name"), [("whole", WHOLE), ("latest", LATEST)], indirect=["copy"])
of_whole = pytest.mark.parametrize("copy", ["whole"], indirect=True)
of_latest = pytest.mark.parametrize("copy", ["latest"], indirect=True)


def opened(folder: Path) -> Network:
    network = Network(folder, SEVEN)
    network.keys |= {name: key_of(name) for name in OTHERS}
    return network


def open_chain(folder: Path) -> Chain:
    return Chain.open(folder, SEVEN, clock=lambda: 0.0, space=SMALL, rolling_blocks=ROLLING_BLOCKS)


def logged(folder: Path, name: str) -> list[bytes]:
    """The blocks of a log, as a reader sees them."""
    reader = (BlockLogReader if name == WHOLE else RollingBlockLogReader).open(folder / STATE_FOLDER)
    try:
        return blocks_of(reader)
    finally:
        reader.close()


def cut(path: Path, by: int) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - by)


def cut_to_blocks(folder: Path, name: str, count: int) -> None:
    """Let a log end so many blocks before its end."""
    log = (BlockLog if name == WHOLE else RollingBlockLog).open(folder / STATE_FOLDER)
    log.cut_after(log.head_number - count)
    log.close()


def goes_on(folder: Path) -> None:
    """A node on this directory makes blocks, and its log follows."""
    network = opened(folder)
    with network.chain as chain:
        before = chain.irreversible
        network.produce(30)
        assert chain.irreversible > before
        assert chain.block_log.head_number == chain.irreversible


# -- what the state still has is put back


@both
@pytest.mark.parametrize("missing", [1, 7, 100, 1000])
def test_a_log_that_lacks_its_last_bytes_gets_its_blocks_back(
    copy: Path, name: str, missing: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = logged(copy, name)
    cut(copy / STATE_FOLDER / name, missing)

    open_chain(copy).close()

    assert logged(copy, name) == before
    assert "were put back from the state" in caplog.text
    goes_on(copy)


@both
def test_a_log_that_lacks_as_many_blocks_as_the_state_keeps_gets_them_back(copy: Path, name: str) -> None:
    before = logged(copy, name)
    cut_to_blocks(copy, name, KEPT_BLOCKS)

    open_chain(copy).close()

    assert logged(copy, name) == before


@both
def test_a_log_whose_last_blocks_have_rotted_gets_them_back(copy: Path, name: str) -> None:
    """The first bytes of a header are compared with its number anyway; these are of the time and the validator."""
    before = logged(copy, name)
    path = copy / STATE_FOLDER / name
    data = bytearray(path.read_bytes())
    for packed in before[-3:]:
        data[data.rindex(packed) + 22] ^= 1
    path.write_bytes(data)
    (path.parent / f"{name}.sums").unlink(missing_ok=True)

    open_chain(copy).close()

    assert logged(copy, name) == before


# -- what nobody here has stops the start


@of_whole
def test_a_log_that_ends_far_below_the_state_stops_the_start(copy: Path) -> None:
    cut_to_blocks(copy, WHOLE, KEPT_BLOCKS + 1)
    files = content(copy / STATE_FOLDER)
    head = len(logged(copy, WHOLE))

    with pytest.raises(
        LogUnfit, match=rf"block_log ends at block {head}, .*blocks {head + 1} to .*--replay-blockchain"
    ):
        open_chain(copy)
    assert content(copy / STATE_FOLDER) == files


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*block_log*")}


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(b"\0")


@of_whole
@pytest.mark.parametrize("lose", [Path.unlink, empty, zero])
@pytest.mark.parametrize("index", [True, False])
def test_a_log_that_is_empty_or_gone_stops_the_start_and_makes_no_pruned_node(
    copy: Path, lose: Callable[[Path], None], index: bool
) -> None:
    lose(copy / STATE_FOLDER / WHOLE)
    if not index:
        (copy / STATE_FOLDER / "block_log.index").unlink()

    for _ in range(2):
        with pytest.raises(LogUnfit, match=r"block_log is missing or empty, .*--replay-from-snapshot"):
            open_chain(copy)
    assert not (copy / STATE_FOLDER / LATEST).exists()


@of_whole
def test_a_state_without_its_log_can_still_be_read(copy: Path) -> None:
    (copy / STATE_FOLDER / WHOLE).unlink()
    with Chain.open_without_log(copy, SEVEN, clock=lambda: 0.0, space=SMALL) as chain:
        assert chain.block_at(chain.head_number) is not None
    with pytest.raises(LogUnfit):
        open_chain(copy)


@of_whole
def test_the_log_of_another_chain_stops_the_start_and_stays_as_it_is(copy: Path) -> None:
    (copy / STATE_FOLDER / WHOLE).write_bytes(recorded_log("open-1"))
    (copy / STATE_FOLDER / "block_log.index").unlink()

    with pytest.raises(LogUnfit, match=r"is not the one that the state .* was made with"):
        open_chain(copy)
    assert (copy / STATE_FOLDER / WHOLE).read_bytes() == recorded_log("open-1")


# -- what costs nothing


@of_whole
def test_a_log_that_is_longer_than_the_state_is_replayed(copy: Path, tmp_path: Path) -> None:
    longer = Path(shutil.copytree(copy, tmp_path / "longer"))
    goes_on(longer)
    for path in (longer / STATE_FOLDER).glob("block_log*"):
        shutil.copy(path, copy / STATE_FOLDER)

    with open_chain(copy) as chain:
        replay(chain, chain.block_log)
        assert chain.head_number >= chain.block_log.head_number == len(logged(longer, WHOLE))


@of_whole
def test_a_state_on_a_branch_that_the_log_has_left_follows_the_log(copy: Path, tmp_path: Path) -> None:
    """Killed between the log and the commit of a switch to a branch that became irreversible at once."""
    other = Path(shutil.copytree(copy, tmp_path / "other"))
    network = opened(other)
    with network.chain as chain:
        network.produce(skipped=1)
        network.produce(40)
        assert chain.irreversible > chain.head_number - 30
    network = opened(copy)
    with network.chain as chain:
        network.produce(2)
    for path in (other / STATE_FOLDER).glob("block_log*"):
        shutil.copy(path, copy / STATE_FOLDER)

    with open_chain(copy) as chain:
        replay(chain, chain.block_log)
        assert chain.head_number >= chain.block_log.head_number == len(logged(other, WHOLE))


@both
@pytest.mark.parametrize("damage", ["missing", "short", "wrong", "long"])
def test_an_index_is_made_anew(copy: Path, name: str, damage: str) -> None:
    before, path = logged(copy, name), copy / STATE_FOLDER / f"{name}.index"
    raw = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"short": raw[:-30], "wrong": raw[:-9] + b"\xff" * 9, "long": raw + bytes(80)}[damage])

    open_chain(copy).close()

    assert logged(copy, name) == before
    assert path.read_bytes() == raw


# -- the latest blocks can be done without, but not in silence


@of_latest
@pytest.mark.parametrize("lose", [Path.unlink, empty, zero])
def test_a_rolling_log_that_is_empty_or_gone_begins_anew_with_a_warning(
    copy: Path, lose: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    before = logged(copy, LATEST)
    lose(copy / STATE_FOLDER / LATEST)

    open_chain(copy).close()

    assert "dlt_block_log is missing or empty" in caplog.text
    assert logged(copy, LATEST) == before[-KEPT_BLOCKS:]
    goes_on(copy)


@of_latest
def test_a_rolling_log_with_a_gap_is_set_aside_and_nothing_of_it_deleted(
    copy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = logged(copy, LATEST)
    cut_to_blocks(copy, LATEST, KEPT_BLOCKS + 1)
    files = content(copy / STATE_FOLDER)

    open_chain(copy).close()

    assert "dlt_block_log.aside-1, which may be deleted" in caplog.text
    after = content(copy / STATE_FOLDER)
    assert after["dlt_block_log.aside-1"] == files[LATEST]
    assert after["dlt_block_log.index.aside-1"] == files[f"{LATEST}.index"]
    assert logged(copy, LATEST) == before[-KEPT_BLOCKS:]


@of_latest
def test_the_rolling_log_of_another_chain_is_set_aside(copy: Path, caplog: pytest.LogCaptureFixture) -> None:
    (copy / STATE_FOLDER / LATEST).write_bytes(recorded_log("open-1"))
    (copy / STATE_FOLDER / f"{LATEST}.index").unlink()
    before = opened_head(copy)

    assert "is not the log of this state" in caplog.text
    assert (copy / STATE_FOLDER / f"{LATEST}.aside-1").read_bytes() == recorded_log("open-1")
    assert opened_head(copy) == before


def opened_head(folder: Path) -> int:
    with open_chain(folder) as chain:
        return chain.head_number


@of_whole
def test_an_ordinary_start_says_nothing_of_the_log(copy: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        open_chain(copy).close()
    assert "block_log" not in caplog.text


@pytest.fixture(autouse=True)
def _spare_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)
