"""`testnet-hardfork`: hardforks without votes, on a chain whose validators voted for none (spec 11, section 9.6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from tests.chain.recorded_chains import advance, network_of
from tests.node.processes import NodeProcess
from tests.recorded import AGAIN

HEIGHT = 40


def chain_of(folder: Path) -> Chain:
    return Chain.open(folder, network_of(AGAIN), clock=lambda: 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A chain at hardfork 13, made by a program that knows 15."""
    with chain_of(tmp_path) as chain:
        advance(chain, AGAIN, HEIGHT)
        assert chain.last_hardfork == 13
    return tmp_path


def test_forced_hardforks_change_the_state_at_once_and_stay(folder: Path) -> None:
    with chain_of(folder) as chain:
        assert chain.force_hardforks(15) == (14, 15)
        assert chain.hardfork(15)
        assert chain.state.get(PM_LAZY_POOLS, 0).id == 0
        assert chain.head_number == HEIGHT
    with chain_of(folder) as chain:
        assert chain.last_hardfork == 15
        assert chain.force_hardforks(15) == ()


def test_blocks_go_on_after_a_forced_hardfork(folder: Path) -> None:
    """A block says which program made it, so that it is let through by the hardfork that is now in force."""
    key = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
    with chain_of(folder) as chain:
        chain.force_hardforks(15)
        for _ in range(3):
            when = chain.head_time + BLOCK_INTERVAL
            name = chain.scheduled_at(chain.slot_at(when))
            chain.push_block(chain.generate_block(when, name, key)).or_raise()
        assert (chain.head_number, chain.last_hardfork) == (HEIGHT + 3, 15)


def test_forced_hardforks_are_undone_with_the_head_block(tmp_path: Path) -> None:
    """Where validators have not confirmed the head block yet."""
    with Chain.open(tmp_path, network_of("open-main15"), clock=lambda: 0.0) as chain:
        advance(chain, "open-main15", 300)
        assert chain.last_hardfork == 13
        chain.force_hardforks(15)
        chain.pop_block()
        assert chain.last_hardfork == 13
        assert chain.state.find(PM_LAZY_POOLS, 0) is None


def words(folder: Path, *more: str) -> tuple[str, ...]:
    return (
        f"--data-dir={folder}",
        "--webserver-http-endpoint=127.0.0.1:0",
        "--webserver-thread-pool-size=1",
        "--plugin=database_api",
        *more,
    )


def test_a_node_applies_them_at_its_start_where_the_plugin_runs(folder: Path) -> None:
    with NodeProcess(*words(folder, "--chain=testnet", "--testnet-hardfork=4.1")) as node:
        assert node.call("database_api", "get_hardfork_version") == "3.2.0"
        assert node.stop() == 0
    forced = ("--chain=testnet", "--plugin=testnet_plugin", "--testnet-hardfork=4.1")
    with NodeProcess(*words(folder, *forced)) as node:
        assert node.call("database_api", "get_hardfork_version") == "4.1.0"
        node.wait_for(f"hardforks 14 to 15 are applied without votes at block #{HEIGHT}")
        assert node.stop() == 0


def test_the_main_network_refuses_them(tmp_path: Path) -> None:
    with NodeProcess(*words(tmp_path, "--chain=mainnet", "--plugin=testnet_plugin", "--testnet-hardfork=14")) as node:
        assert node.wait() == 255
    assert "testnet-hardfork is for networks of tests" in node.log
