"""The first blocks of a local network are valid and reach the last hardfork with all validators."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.invariants import check
from ledgerd.history.embedded.following import open_history
from ledgerd.history.settings import HistorySettings
from ledgerd.node.testnet.founding import SMALL, copy_chain, found, founding_seconds
from ledgerd.node.testnet.network import chain_text
from ledgerd.node.testnet.plan import NetworkKeys, new_keys, plan_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.protocol.networks.parameters import ChainParameters, NetworkClock

NOW = 1_800_000_000


def parameters(folder: Path, keys: NetworkKeys) -> ChainParameters:
    plan = plan_of(folder, keys)
    plan.chain_file.write_text(chain_text(plan, NOW, NetworkClock(NOW, NOW, 1.0)))
    return load_parameters(plan.chain_file)


def test_a_chain_that_cannot_be_copied_names_the_file(tmp_path: Path) -> None:
    for folder in ("state", "history"):
        (tmp_path / "one" / folder).mkdir(parents=True)
    (tmp_path / "one" / "state" / "data.mdb").symlink_to(tmp_path / "nothing")

    with pytest.raises(OperatorError, match=r"the chain cannot be copied: .*No such file or directory: .*data\.mdb"):
        copy_chain(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("count", [1, 2, 5, 21, 30, 100])
def test_any_number_of_validators_comes_through_all_hardforks(tmp_path: Path, count: int) -> None:
    keys = new_keys(1, count)
    network = parameters(tmp_path, keys)
    found(tmp_path / "one", network, keys, NOW)
    copy_chain(tmp_path / "one", tmp_path / "two")

    for folder in ("one", "two"):
        with Chain.open(tmp_path / folder, network, clock=lambda: 0.0, space=SMALL) as chain:
            assert chain.last_hardfork == 15
            assert chain.head_time == NOW
            assert chain.head_number == founding_seconds(keys) // 3 + 1
            assert len(set(chain.scheduled)) == min(count, 21)
            assert check(chain) == []
            with open_history(chain, tmp_path / folder / "history", HistorySettings(), SMALL) as history:
                assert history.head_number == chain.head_number


def test_the_last_hardfork_can_be_left_to_the_network(tmp_path: Path) -> None:
    keys = new_keys(1, 5, hardfork_after=60)
    network = parameters(tmp_path, keys)
    found(tmp_path / "one", network, keys, NOW)

    with Chain.open(tmp_path / "one", network, clock=lambda: 0.0, space=SMALL) as chain:
        assert chain.last_hardfork == 14
        assert chain.parts.ledger.hardforks.next_hardfork_time == NOW + 60
