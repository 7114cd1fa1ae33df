"""A history made again is the one that was lost; an interrupted rebuild goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.offline import replay as replaying
from ledgerd.history.embedded.rebuild import REBUILD_FOLDER, rebuild
from ledgerd.history.settings import HistorySettings
from tests.chain.networks import SMALL, start_seven
from tests.chain.recorded_chains import open_chain
from tests.chain.replays import copy_replayed
from tests.history.histories import HISTORY_FOLDER, closed_view, followed, shown_operations, whole_history
from tests.recorded import recorded_answers

NAME, HEIGHT = "open-hf0", 336


class Interrupted(Exception):
    """The operator interrupted the rebuild."""


def recorded(folder: Path) -> None:
    copy_replayed(NAME, HEIGHT, folder)


def assert_complete(folder: Path) -> None:
    answers = recorded_answers(NAME, HEIGHT)["get_ops_in_block"]
    with closed_view(folder) as view:
        assert view.head_number == HEIGHT
        for number in range(1, HEIGHT + 1):
            assert shown_operations(view, number) == answers[number, False]
    assert not (folder / REBUILD_FOLDER).exists()


def test_a_rebuilt_history_is_the_recorded_one(tmp_path: Path) -> None:
    recorded(tmp_path)
    with open_chain(NAME, tmp_path) as chain:
        assert rebuild(chain, tmp_path, HistorySettings(), space=SMALL) == HEIGHT
    assert_complete(tmp_path)


def test_the_blocks_that_are_not_in_the_log_yet_are_rebuilt_too(tmp_path: Path) -> None:
    network = start_seven(tmp_path)
    with network.chain as chain:
        assert chain.irreversible < chain.head_number
        rebuild(chain, tmp_path, HistorySettings(), space=SMALL)
        with followed(chain, tmp_path) as store:
            assert store.head_number == chain.head_number
    with closed_view(tmp_path) as view:
        assert whole_history(view, "viz")


def test_an_interrupted_rebuild_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path)
    monkeypatch.setattr(replaying, "BLOCKS_A_COMMIT", 50)

    def interrupt(height: int) -> None:
        if height >= 150:
            raise Interrupted

    with open_chain(NAME, tmp_path) as chain:
        with pytest.raises(Interrupted):
            rebuild(chain, tmp_path, HistorySettings(), space=SMALL, progress=interrupt)
        assert not (tmp_path / HISTORY_FOLDER).exists()
        assert rebuild(chain, tmp_path, HistorySettings(), space=SMALL) == HEIGHT - 150
    assert_complete(tmp_path)


def test_a_rebuild_with_other_options_begins_from_the_first_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path)
    monkeypatch.setattr(replaying, "BLOCKS_A_COMMIT", 50)

    def interrupt(height: int) -> None:
        if height:
            raise Interrupted

    with open_chain(NAME, tmp_path) as chain:
        with pytest.raises(Interrupted):
            rebuild(chain, tmp_path, HistorySettings(start_block=7), space=SMALL, progress=interrupt)
        assert rebuild(chain, tmp_path, HistorySettings(), space=SMALL) == HEIGHT
    assert_complete(tmp_path)


def test_what_an_interrupted_rebuild_has_of_another_branch_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = start_seven(tmp_path)
    monkeypatch.setattr(replaying, "BLOCKS_A_COMMIT", 1)

    def interrupt(height: int) -> None:
        if height == network.chain.head_number:
            raise Interrupted

    with network.chain as chain:
        with pytest.raises(Interrupted):
            rebuild(chain, tmp_path, HistorySettings(), space=SMALL, progress=interrupt)
        chain.pop_block()
        network.produce(1, skipped=2)
        assert rebuild(chain, tmp_path, HistorySettings(), space=SMALL) == 1
        with followed(chain, tmp_path) as store:
            head = chain.block_at(chain.head_number)
            assert head is not None
            assert store.block(chain.head_number) == head.packed
