"""The plan of a local network, and the permissions of its files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.testnet.network import write_configurations
from ledgerd.node.testnet.plan import Plan, new_keys, plan_of, read_keys, write_keys
from ledgerd.protocol.errors import OperatorError


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(tmp_path, new_keys(3, 7))


def test_every_validator_belongs_to_one_node(plan: Plan) -> None:
    dealt = [name for member in plan.members for name in member.validators]

    assert sorted(dealt) == sorted(plan.keys.validators)
    assert [len(member.validators) for member in plan.members] == [3, 2, 2]


def test_no_two_nodes_share_a_port(plan: Plan) -> None:
    ports = [port for each in plan.members for port in each[2:6]]

    assert len(set(ports)) == 12


def test_ports_are_counted_from_a_base(tmp_path: Path) -> None:
    second = plan_of(tmp_path, new_keys(3, 3), 20_000).members[1]

    assert (second.p2p_port, second.http_port, second.websocket_port) == (20_001, 20_101, 20_201)
    assert second.metrics_port == 20_301


def test_keys_are_kept_for_their_owner_alone(plan: Plan) -> None:
    write_keys(plan.folder, plan.keys)
    write_configurations(plan)

    assert read_keys(plan.folder) == plan.keys
    for path in (plan.folder / "network.json", *(member.config for member in plan.members)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_networks_have_different_keys() -> None:
    assert not set(new_keys(1, 3).validators.values()) & set(new_keys(1, 3).validators.values())


def test_a_folder_without_a_network_has_no_keys(tmp_path: Path) -> None:
    assert read_keys(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{}", '{"format":2}'])
def test_damaged_keys_are_told_of(tmp_path: Path, content: str) -> None:
    (tmp_path / "network.json").write_text(content)

    with pytest.raises(OperatorError, match=r"network\.json cannot be read"):
        read_keys(tmp_path)


def test_a_node_speaks_with_the_others_and_with_nobody_beyond_them(plan: Plan) -> None:
    plan.chain_file.write_text('base = "testnet"\n')
    write_configurations(plan, {(1, 3): 4242})
    first = read_configuration({"config-file": [str(plan.members[0].config)]}, plan.folder)

    assert first.p2p.is_isolated
    assert [(each.host, each.port) for each in first.p2p.seeds] == [
        ("127.0.0.1", plan.members[1].p2p_port),
        ("127.0.0.1", 4242),
    ]
    assert first.validator.names == ("committee", *plan.members[0].validators)
    assert {key.wif for key in first.validator.keys.values()} == {
        plan.keys.emergency,
        *(plan.keys.validators[name] for name in plan.members[0].validators),
    }
