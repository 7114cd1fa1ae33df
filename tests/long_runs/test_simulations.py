"""A simulated network as a seed of a long run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.playing import Played
from tests.long_runs import simulations
from tests.long_runs.simulations import Simulations, Wedges
from tests.sim.chaos import Ending
from tests.sim.handovers import HandoverEnding
from tests.sim.invariants import Broken
from tests.sim.wedges import MOST_SECONDS, WedgeEnding


@pytest.mark.parametrize(("strangers", "done"), [(0, 0), (2, 1)])
def test_a_network_counts_where_hostile_peers_were_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strangers: int, done: int
) -> None:
    seen: list[int] = []

    def ended(_grounds: object, seed: int, _folder: Path) -> Ending:
        seen.append(seed)
        return Ending(3, 0, 0, "", {}, strangers)  # type: ignore[arg-type]

    monkeypatch.setattr(simulations, "Grounds", lambda _: None)
    monkeypatch.setattr(simulations, "chaos", ended)

    assert Simulations(tmp_path).play(7) == Played(done)
    assert seen == [7]


def test_nodes_that_never_agree_are_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "Grounds", lambda _: None)
    monkeypatch.setattr(simulations, "chaos", lambda *_: Ending(-1, 0, 0, "", {}, 1))  # type: ignore[arg-type]

    with pytest.raises(Broken):
        Simulations(tmp_path).play(7)


def test_a_seed_of_the_simulator_is_played(tmp_path: Path) -> None:
    assert Simulations(tmp_path).play(4).done in {0, 1}


@pytest.mark.parametrize("seconds", [-1.0, MOST_SECONDS + 1.0])
def test_a_dead_end_that_is_not_left_in_time_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(simulations, "Grounds", lambda _: None)
    monkeypatch.setattr(simulations, "wedge", lambda *_: WedgeEnding(seconds, (), (), ""))

    with pytest.raises(Broken, match=f"in step after {seconds} s"):
        Wedges(tmp_path).play(7)


def test_a_dead_end_that_is_left_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "Grounds", lambda _: None)
    monkeypatch.setattr(simulations, "wedge", lambda *_: WedgeEnding(500.0, (), (), ""))
    assert Wedges(tmp_path).play(7) == Played(1)


def test_a_pair_with_one_signer_counts_the_slots_that_were_owed(tmp_path: Path) -> None:
    played = simulations.Signers(tmp_path).play(39)
    assert played.done == 1
    assert (played.accepted or 0) > 0


def test_a_handover_counts_the_blocks_of_its_validator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulations, "Grounds", lambda _: None)
    monkeypatch.setattr(simulations, "hand_over_and_back", lambda *_: HandoverEnding((), 7, ""))
    assert simulations.Handovers(tmp_path).play(1) == Played(1, 7)
