"""Our state of a block for a shadow: within its share of the processor, and not from too far away."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.workers.beside.shadow_snapshots import MOST_REPLAYED, OurStates, ProcessorShare
from ledgerd.protocol.errors import OperatorError

WORKER = OurStates.__module__


def test_a_state_that_is_too_far_from_our_nearest_snapshot_is_not_begun(tmp_path: Path) -> None:
    states = OurStates(read_configuration({"data-dir": [str(tmp_path)], "chain": ["testnet"]}, tmp_path))

    with pytest.raises(OperatorError, match="have this node write snapshots"):
        states.make(MOST_REPLAYED + 1, tmp_path / "made", lambda: None)
    assert not list(tmp_path.iterdir())


def test_work_pauses_for_as_long_as_its_share_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    now = [(0.0, 0.0)]
    monkeypatch.setattr(f"{WORKER}.time.monotonic", lambda: now[0][0])
    monkeypatch.setattr(f"{WORKER}.time.process_time", lambda: now[0][1])
    monkeypatch.setattr(f"{WORKER}.time.sleep", slept.append)
    share = ProcessorShare(20.0)
    now[0] = (2.0, 1.0)
    share()

    assert slept == [3.0], "one second of work is a fifth of five"
