"""Messages and blocks of peers: by type, direction and outcome."""

from __future__ import annotations

from ledgerd.metrics.meters.peers import PeerMeter
from ledgerd.metrics.table import peers
from tests.metrics.memories import node_memory


def test_messages_are_counted_by_direction_and_type_with_their_bytes() -> None:
    with node_memory() as node:
        meter = PeerMeter(node.main())
        meter.received(5107, 100)
        meter.sent(5113, 58)
        meter.received(0xFFFF_FFFF, 1)
        messages, sizes = (node.values()[each.name] for each in (peers.MESSAGES, peers.MESSAGE_BYTES))

    assert {labels for labels, numbers in messages.items() if numbers[0]} == {
        ("received", "block_reply"),
        ("sent", "transaction"),
        ("received", "other"),
    }
    assert sizes["received", "block_reply"] == [108.0]
    assert sizes["sent", "transaction"] == [58.0]


def test_strikes_bans_blocks_and_delays_are_counted() -> None:
    with node_memory() as node:
        meter = PeerMeter(node.main())
        meter.struck()
        meter.banned("frame_too_large")
        meter.block("dead_fork")
        meter.pushed_late_by(-0.2)
        meter.pushed_late_by(0.4)
        values = node.values()

    assert values[peers.STRIKES.name] == {(): [1.0]}
    assert values[peers.BANS.name]["frame_too_large",] == [1.0]
    assert values[peers.PEER_BLOCKS.name]["dead_fork",] == [1.0]
    delays = values[peers.BLOCK_DELAY.name][()]
    assert (delays[0], sum(delays[:-1]), delays[-1]) == (1.0, 2.0, 0.4)
