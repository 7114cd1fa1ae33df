"""Metrics of the peers that are read off once a second, on the thread of the chain."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from statistics import median

from ledgerd.metrics.cells import Cells, GaugeCell
from ledgerd.metrics.table import chain as chain_table
from ledgerd.metrics.table import peers as table
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life

STATES = {
    Life.CONNECTING: "connecting",
    Life.HANDSHAKING: "handshaking",
    Life.ACTIVE: "active",
    Life.SYNCING: "syncing",
}
MINORITY = 2
"""The fork status of a node that stands on a branch of few."""


class PeerGauges:
    """Writes what the connections to peers are like."""

    def __init__(self, cells: Cells) -> None:
        self._peers = {
            (direction, state): cells.gauge(table.PEERS, direction, state)
            for direction in table.CONNECTED_BY.values
            for state in table.STATE.values
        }
        self._heads = [cells.gauge(table.PEER_HEADS, each) for each in table.STATISTIC.values]
        self._round_trips = [cells.gauge(table.ROUND_TRIPS, each) for each in table.STATISTIC.values]
        self._buffers = cells.gauge(table.SEND_BUFFERS)
        self._syncing, self._minority = cells.gauge(table.SYNCING), cells.gauge(table.MINORITY)
        self._relayed = cells.gauge(chain_table.POOL_TRANSACTIONS, "relay")
        self._relayed_bytes = cells.gauge(chain_table.POOL_BYTES)
        self._of_clients = cells.gauge(chain_table.CLIENT_TRANSACTIONS)
        self._unheard = cells.gauge(chain_table.UNHEARD_TRANSACTIONS)

    def sample(self, driver: Driver) -> None:
        core, mempool = driver.network.core, driver.network.intake.mempool
        peers = core.peers()
        tally = Tally(
            (table.CONNECTED_BY.values[not peer.is_incoming], STATES[peer.life])
            for peer in peers
            if peer.life in STATES
        )
        for place, gauge in self._peers.items():
            gauge.set(tally[place])
        _set_statistics(self._heads, (peer.head_number for peer in peers if peer.is_live))
        _set_statistics(self._round_trips, (seconds for _, seconds in driver.round_trips()))
        self._buffers.set(driver.queued)
        self._syncing.set(core.mode is Mode.SYNC)
        self._minority.set(core.fork_status == MINORITY)
        self._relayed.set(len(mempool))
        self._relayed_bytes.set(mempool.size)
        offers = driver.network.intake.offers
        self._of_clients.set(offers.pending)
        self._unheard.set(offers.unheard)


def _set_statistics(gauges: list[GaugeCell], values: Iterable[float]) -> None:
    known = sorted(values)
    if known:
        for gauge, value in zip(gauges, (known[0], median(known), known[-1]), strict=True):
            gauge.set(value)
    else:
        for gauge in gauges:
            gauge.forget()
