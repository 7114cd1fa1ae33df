"""A history that was recorded from an archive gives the recorded answers, for every block and every account.

Two chains in a usual run; all of them with `EVERY_CHAIN=1`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.log.histories import HistoryView
from ledgerd.history.past import recording
from tests.history.histories import closed_view, recorded_histories, shown_operations
from tests.history.past.pasts import born_of_snapshot, past_of, taken
from tests.history.test_recorded_histories import assert_recorded
from tests.recorded import ANSWERED, recorded_answers

NAMES = (*ANSWERED,) if os.environ.get("EVERY_CHAIN") else ("open-hf0", "open-pm2")


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(name)
    height = ANSWERED[name]
    born_of_snapshot(folder, name, height // 2, height)
    with pytest.MonkeyPatch.context() as patch, past_of(folder, name) as past:
        patch.setattr(recording, "POLL_SECONDS", 0.0)
        assert not past.is_whole
        said = past.needs(folder / "block-archive", folder / "state")
        assert not past.run(), "no node runs"
    took = sum(path.stat().st_blocks * 512 for path in (folder / "history.past").rglob("*"))
    assert took <= said < 3 * took, "the need of disk that was said before"
    with closed_view(folder) as view:
        assert view.operations_of(1) == []
    assert taken(folder, name)
    with past_of(folder, name) as past:
        assert past.is_whole
        past.clear()
    return folder


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[HistoryView]:
    with closed_view(folder) as view:
        yield view


def test_the_operations_of_every_block_are_the_recorded_ones(name: str, view: HistoryView) -> None:
    height = ANSWERED[name]
    assert view.head_number == height
    answers = recorded_answers(name, height)["get_ops_in_block"]
    for (number, only_virtual), text in answers.items():
        assert shown_operations(view, number, only_virtual=only_virtual) == text, f"{name}, block {number}"


def test_the_history_of_every_account_is_the_recorded_one(name: str, view: HistoryView) -> None:
    assert sum(assert_recorded(view, *fact) for fact in recorded_histories(name).items()) > 100
