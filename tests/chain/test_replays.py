"""Replays that tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chain.recorded_chains import advance, difference, difference_from, open_chain, recorded_state
from tests.chain.replays import PLACE, keep_replay, open_replayed

NAME, LOWER, HIGHER = "open-hf0", 120, 336


def test_each_is_at_its_height_and_goes_on_without_the_others(tmp_path: Path) -> None:
    """Whichever is made first: the higher one begins with the lower one, and the lower one with nothing."""
    for place, height in enumerate((LOWER, HIGHER, LOWER)):
        with open_replayed(NAME, height, tmp_path / str(place)) as chain:
            assert chain.head_number == height
            found = difference_from(recorded_state(NAME, height), chain)
            assert found is None, found
            advance(chain, NAME, HIGHER)
            assert chain.head_number == HIGHER


def test_what_is_kept_of_an_open_chain_is_the_recorded_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the chain goes on."""
    (tmp_path / "replays").mkdir()
    monkeypatch.setenv(PLACE, str(tmp_path / "replays"))
    with open_chain(NAME, tmp_path / "open") as chain:
        advance(chain, NAME, LOWER)
        keep_replay(NAME, LOWER, tmp_path / "open")
        advance(chain, NAME, HIGHER)
    with open_replayed(NAME, LOWER, tmp_path / "copy") as chain:
        assert difference_from(recorded_state(NAME, LOWER), chain) is None
        advance(chain, NAME, HIGHER)
        assert difference_from(recorded_state(NAME, HIGHER), chain) is None


def test_differences_are_found() -> None:
    for ours, recorded in (({"a": 1}, {"b": 1}), ({}, {"a": 1}), ([1, 2], [1]), ({"a": [0]}, {"a": [1]})):
        assert difference(ours, recorded) is not None
        assert difference(ours, ours) is None
