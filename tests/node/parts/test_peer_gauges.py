"""The metrics of peers over a state of the network, without sockets."""

from __future__ import annotations

from unittest.mock import MagicMock

from ledgerd.metrics.table import peers as table
from ledgerd.node.parts.peers import STATES, PeerGauges
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life
from tests.metrics.memories import node_memory


def peer(life: Life, head: int, *, is_incoming: bool) -> MagicMock:
    return MagicMock(life=life, head_number=head, is_incoming=is_incoming, is_live=life in {Life.ACTIVE, Life.SYNCING})


def driver_of(*peers: MagicMock) -> MagicMock:
    driver = MagicMock(queued=17)
    driver.network.core.peers.return_value = list(peers)
    driver.network.core.mode, driver.network.core.fork_status = Mode.SYNC, 2
    driver.network.intake.mempool.__len__.return_value = 3
    driver.network.intake.mempool.size = 900
    driver.network.intake.offers.pending, driver.network.intake.offers.unconfirmed = 5, 2
    driver.round_trips.return_value = iter([(1, 0.3), (2, 0.1)] if peers else [])
    return driver


def test_peers_are_counted_by_direction_and_state_and_their_heads_spread() -> None:
    crowd = (
        peer(Life.ACTIVE, 100, is_incoming=True),
        peer(Life.ACTIVE, 90, is_incoming=True),
        peer(Life.SYNCING, 20, is_incoming=False),
        peer(Life.CONNECTING, 0, is_incoming=False),
        peer(Life.CLOSED, 5_000, is_incoming=True),
    )
    with node_memory() as node:
        PeerGauges(node.main()).sample(driver_of(*crowd))
        values = node.values()

    assert {labels: numbers[0] for labels, numbers in values[table.PEERS.name].items() if numbers[0]} == {
        ("inbound", "active"): 2.0,
        ("outbound", "syncing"): 1.0,
        ("outbound", "connecting"): 1.0,
    }
    assert values[table.PEER_HEADS.name] == {("min",): [20.0], ("median",): [90.0], ("max",): [100.0]}
    assert values[table.ROUND_TRIPS.name] == {("min",): [0.1], ("median",): [0.2], ("max",): [0.3]}
    assert (values[table.SYNCING.name], values[table.MINORITY.name]) == ({(): [1.0]}, {(): [1.0]})
    assert values["ledgerd_mempool_transactions"]["relay",] == [3.0]
    assert values["ledgerd_mempool_relay_bytes"] == {(): [900.0]}
    assert values["ledgerd_mempool_client_transactions"] == {(): [5.0]}
    assert values["ledgerd_mempool_unheard_transactions"] == {(): [2.0]}


def test_without_peers_there_is_no_height_of_any() -> None:
    with node_memory() as node:
        gauges = PeerGauges(node.main())
        gauges.sample(driver_of(peer(Life.ACTIVE, 7, is_incoming=True)))
        gauges.sample(driver_of())

        assert table.PEER_HEADS.name not in node.values()
        assert table.ROUND_TRIPS.name not in node.values()


def test_every_state_of_a_connection_has_a_value() -> None:
    assert set(STATES) == set(Life) - {Life.CLOSED}
    assert set(STATES.values()) == set(table.STATE.values)
