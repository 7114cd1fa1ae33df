"""The clock of a network: the world's, unless a private network's chain file says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.protocol.networks.parameters import MICRO, NETWORKS, NetworkClock

NOW = 1_800_000_000 * MICRO
MOMENTS = st.integers(0, 0xFFFFFFFF)


@pytest.mark.parametrize("word", NETWORKS)
def test_the_networks_that_everybody_knows_have_the_time_of_the_world(word: str) -> None:
    clock = NETWORKS[word].clock

    assert clock.at(NOW + 1) == NOW + 1
    assert not clock.is_own


def test_a_clock_goes_on_from_what_it_was_set_to_at_its_own_pace() -> None:
    clock = NetworkClock(1_800_000_000, 1_000_000_000, 3.0)

    assert clock.is_own
    assert clock.at(NOW) == 1_000_000_000 * MICRO
    assert clock.at(NOW + 2 * MICRO) == 1_000_000_006 * MICRO


@given(MOMENTS, MOMENTS, st.floats(0.01, 100.0), st.integers(0, 2**52), st.integers(0, 2**40))
def test_no_clock_goes_backwards(began: int, showed: int, rate: float, moment: int, later: int) -> None:
    clock = NetworkClock(began, showed, rate)

    assert clock.at(moment) <= clock.at(moment + later)


def test_a_chain_file_may_set_it(tmp_path: Path) -> None:
    file = tmp_path / "chain.toml"
    file.write_text('base = "testnet"\n[clock]\nbegan = 1800000000\nshowed = 1000000000\nrate = 2\n')

    assert load_parameters(file).clock == NetworkClock(1_800_000_000, 1_000_000_000, 2.0)


@pytest.mark.parametrize(("key", "value"), [("rate", "0"), ("rate", "1000"), ("began", "-1"), ("pace", "1")])
def test_a_clock_that_cannot_be_is_refused(tmp_path: Path, key: str, value: str) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(f'base = "testnet"\n[clock]\n{key} = {value}\n')

    with pytest.raises(OperatorError, match=f"clock: .*{key}"):
        load_parameters(file)
