"""A history of the past is taken when it fits, and only then; whatever is interrupted goes on."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from ledgerd.archive.sealed import SealedFile
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.offline import replay as replaying
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged, PastRefused
from ledgerd.history.past import handing_over, recording
from ledgerd.history.past.handing_over import FORMER_SUFFIX, PAST_FOLDER, READY, REFUSED, WANTED
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.chain.recorded_chains import advance
from tests.history.histories import SMALL, closed_view, shown_operations
from tests.history.made_blocks import block_on, told
from tests.history.past.pasts import ARCHIVE, SETTINGS, born_of_snapshot, node_of, past_of, taken
from tests.recorded import recorded_answers

NAME, SNAPSHOT, HEIGHT = "open-hf0", 140, 300


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    born_of_snapshot(folder, NAME, SNAPSHOT, HEIGHT)
    return folder


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "POLL_SECONDS", 0.0)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "node"))


@pytest.fixture(scope="module")
def ready(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(made, tmp_path_factory.mktemp("ready") / "node"))
    with pytest.MonkeyPatch.context() as patch, past_of(folder, NAME) as past:
        patch.setattr(recording, "POLL_SECONDS", 0.0)
        assert not past.run()
    return folder


@pytest.fixture
def offered(ready: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ready, tmp_path / "offered"))


def is_whole(folder: Path, height: int = HEIGHT) -> None:
    answers = recorded_answers(NAME, 336)["get_ops_in_block"]
    with closed_view(folder) as view:
        assert view.head_number == height
        for number in range(1, height + 1):
            assert shown_operations(view, number) == answers[number, False]


class Killed(BaseException):
    """The process is gone."""


def test_an_interrupted_recording_goes_on_at_its_last_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "BLOCKS_A_COMMIT", 50)
    monkeypatch.setattr(recording, "BLOCKS_AT_ONCE", 50)
    heights: list[int] = []

    def kill(height: int) -> None:
        if height > max(heights, default=0):
            heights.append(height)
            raise Killed

    for _ in range(20):
        with past_of(folder, NAME) as past, suppress(Killed):
            assert not past.run(kill)
            break
    assert heights == [50, 100, 140, 190, 240, 290, 300]
    assert taken(folder, NAME)
    is_whole(folder)


def test_the_node_copies_what_came_meanwhile_or_waits_for_more(offered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with node_of(offered, NAME) as (chain, _):
        advance(chain, NAME, 330)
    (folder := offered / PAST_FOLDER / READY).touch()
    with monkeypatch.context() as patch:
        patch.setattr(handing_over, "MOST_AT_ONCE", 10)
        assert not taken(offered, NAME)
    assert not folder.exists()
    with past_of(offered, NAME) as past:
        assert not past.run()
    assert taken(offered, NAME)
    is_whole(offered, 330)
    with node_of(offered, NAME) as (chain, store):
        advance(chain, NAME, 336)
        assert store.head_number == 336
    is_whole(offered, 336)
    with past_of(offered, NAME) as past:
        assert past.is_whole
        past.clear()
    assert not (offered / PAST_FOLDER).exists()
    assert not (offered / (HISTORY_FOLDER + FORMER_SUFFIX)).exists()


@pytest.mark.parametrize("moved", [False, True])
def test_a_node_that_was_killed_between_the_two_names_goes_on(offered: Path, moved: bool) -> None:
    """The history of before is aside; the one that takes its place has its name, or has not."""
    (offered / HISTORY_FOLDER).rename(offered / (HISTORY_FOLDER + FORMER_SUFFIX))
    if moved:
        (offered / PAST_FOLDER / HISTORY_FOLDER).rename(offered / HISTORY_FOLDER)
    else:
        with past_of(offered, NAME) as past, pytest.raises(HistoryDamaged):
            past.run()
    with node_of(offered, NAME) as (chain, store):
        assert store.head_number == chain.head_number
    assert not (offered / PAST_FOLDER / READY).exists()
    is_whole(offered)


def test_a_history_with_other_options_is_refused_and_the_other_process_told(offered: Path) -> None:
    assert not taken(offered, NAME, HistorySettings(start_block=7))
    assert (offered / PAST_FOLDER / REFUSED).exists()
    assert not (offered / PAST_FOLDER / READY).exists()
    with past_of(offered, NAME) as past, pytest.raises(PastRefused, match="other options"):
        past.run()
    with past_of(offered, NAME) as past:
        assert not past.run(), "it is offered again"
    assert taken(offered, NAME)


def test_another_chains_history_is_refused(offered: Path) -> None:
    past = offered / PAST_FOLDER
    settings = msgspec.json.decode((past / WANTED).read_bytes(), type=HistorySettings)
    shutil.rmtree(past / HISTORY_FOLDER)
    log = RollingBlockLogReader.open(offered / "state")
    with EmbeddedStore(past / HISTORY_FOLDER, settings, log, SMALL) as foreign:
        foreign.record([told(block_on(NO_BLOCK, 1, [[1]]))])
    log.close()
    assert not taken(offered, NAME)
    assert "another chain" in (past / REFUSED).read_text()
    with node_of(offered, NAME) as (chain, store):
        assert store.head_number == chain.head_number


def test_what_cannot_be_recorded_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    latest = msgspec.structs.replace(SETTINGS, count_blocks=100)
    with past_of(folder, NAME, latest) as past, pytest.raises(OperatorError, match="history-count-blocks"):
        past.run()
    with monkeypatch.context() as patch, past_of(folder, NAME) as past:
        patch.setattr(RollingBlockLogReader, "head_number", SNAPSHOT - 1)
        with pytest.raises(PastRefused, match="not irreversible yet"):
            past.run()
    (folder / ARCHIVE / SealedFile(1, 99).name).unlink()
    with past_of(folder, NAME) as past, pytest.raises(OperatorError, match="block 1 is neither in the block log nor"):
        past.run()


def test_a_reader_goes_on_with_the_history_that_takes_the_place(offered: Path) -> None:
    history = EmbeddedHistory.open(offered / HISTORY_FOLDER, offered / "state", HistorySettings())
    with history:
        with history.reading() as view:
            assert view.operations_of(1) == []
            (offered / HISTORY_FOLDER).rename(offered / "former")
            assert view.operations_of(SNAPSHOT + 1), "who reads now is not disturbed"
        with history.reading() as view:
            assert view.operations_of(SNAPSHOT + 1), "nothing has taken its place yet"
        (offered / PAST_FOLDER / HISTORY_FOLDER).rename(offered / HISTORY_FOLDER)
        answers = recorded_answers(NAME, 336)["get_ops_in_block"]
        with history.reading() as view:
            assert shown_operations(view, 1) == answers[1, False]
