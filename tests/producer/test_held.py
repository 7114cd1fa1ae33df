"""A producer that another part of the node holds back: it makes no block, and says why, until it is let go."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.producer.virtual_time import Station, World


def test_nothing_is_made_while_production_is_held(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    with Station(tmp_path, World()) as station:
        station.run_until_block(5)
        station.producer.signing_refusal = lambda: "the imported state is still being checked"
        station.run(30)
        assert station.chain.head_number == 5
        assert "Not producing block for viz: the imported state is still being checked" in caplog.text
        assert "wake up" not in caplog.text, "it was awake"

        station.producer.signing_refusal = str
        station.run(7)

        assert station.chain.head_number > 5
        assert len(set(station.times)) == len(station.times)


def test_a_network_of_one_is_not_bridged_while_production_is_held(tmp_path: Path) -> None:
    with Station(tmp_path, World()) as station:
        station.run_until_block(5)
        station.producer.signing_refusal = lambda: "held"
        station.run(7_200)
        assert station.chain.head_number == 5
