"""A network without blocks for half an hour: the committee makes blocks, and its validators return by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ledgerd.node.testnet.network import LocalNetworkSettings, chain_text
from ledgerd.node.testnet.plan import Plan
from ledgerd.node.testnet.watch import ask
from ledgerd.protocol.networks.chain_file import load_parameters
from tests.node.testnet.scenario import Ordeal, ordeal
from tests.patience import PATIENCE

SILENCE = 1_800
GLOBALS = ("database_api", "get_dynamic_global_properties", ())


def test_a_network_comes_through_an_emergency_by_itself(tmp_path: Path) -> None:
    settings = LocalNetworkSettings(nodes=2, validators=3, block_time=0.5)
    with ordeal(tmp_path, settings, before=stand_still) as hands:
        hands.until(lambda: properties(hands)["emergency_consensus_start_block"] > 0, PATIENCE, "the emergency")
        began = properties(hands)["emergency_consensus_start_block"]
        hands.until(lambda: not properties(hands)["emergency_consensus_active"], PATIENCE, "the end of the emergency")
        hands.until(lambda: properties(hands)["current_validator"] != "committee", PATIENCE, "a block of a validator")
        hands.until(lambda: hands.network.watch.highest[0] > began + 3, PATIENCE, "irreversible blocks of validators")
        hands.all_agree(PATIENCE)

        assert properties(hands)["participation_count"] < 128 // 3, "which is no reason to stop after an emergency"


def stand_still(plan: Plan) -> None:
    """Put the network's clock forward before anybody starts."""
    clock = load_parameters(plan.chain_file).clock
    later = replace(clock, showed=clock.showed + SILENCE)
    plan.chain_file.write_text(chain_text(plan, clock.showed, later))


def properties(hands: Ordeal) -> dict[str, Any]:
    found: dict[str, Any] = ask(hands.network.plan.members[0], [GLOBALS])[0]
    return found
