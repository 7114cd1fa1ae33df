"""Metrics of the connections to peers. No name and no address of a peer is in them."""

from __future__ import annotations

from ledgerd.metrics.families import MetricLabel, counter, gauge, histogram

MESSAGE_TYPES: dict[int, str] = {
    5100: "hello",
    5101: "hello_reply",
    5102: "range_request",
    5103: "range_reply",
    5104: "get_block_range",
    5105: "block_range_reply",
    5106: "get_block",
    5107: "block_reply",
    5108: "not_available",
    5109: "fork_status",
    5110: "peer_exchange_request",
    5111: "peer_exchange_reply",
    5112: "peer_exchange_rate_limited",
    5113: "transaction",
    5114: "soft_ban",
    5115: "gap_fill_request",
    5116: "gap_fill_reply",
}
OTHER_TYPE = "other"

OFFENCES, FRAME_TOO_LARGE = "offences", "frame_too_large"

CONNECTED_BY = MetricLabel("direction", ("inbound", "outbound"))
STATE = MetricLabel("state", ("connecting", "handshaking", "active", "syncing"))
DIRECTION = MetricLabel("direction", ("received", "sent"))
TYPE = MetricLabel("type", (*MESSAGE_TYPES.values(), OTHER_TYPE))
STATISTIC = MetricLabel("statistic", ("min", "median", "max"))
OUTCOME = MetricLabel("outcome", ("accepted", "known", "branch", "dead_fork", "rejected"))
REASON = MetricLabel("reason", (OFFENCES, FRAME_TOO_LARGE))

PEERS = gauge("ledgerd_p2p_peers", "Connections to peers, by who dialled and by state.", CONNECTED_BY, STATE)
PEER_HEADS = gauge(
    "ledgerd_p2p_peer_head_block",
    "Numbers of the head blocks that peers claim to have: the lowest, the middle and the highest.",
    STATISTIC,
)
ROUND_TRIPS = gauge(
    "ledgerd_p2p_round_trip_seconds",
    "Round trips to peers as TCP measures them, on Linux: the shortest, the middle and the longest.",
    STATISTIC,
)
MESSAGES = counter("ledgerd_p2p_messages_total", "Messages from and to peers.", DIRECTION, TYPE)
MESSAGE_BYTES = counter(
    "ledgerd_p2p_message_bytes_total", "Bytes of messages from and to peers, with their headers.", DIRECTION, TYPE
)
SEND_BUFFERS = gauge("ledgerd_p2p_send_buffer_bytes", "Bytes that wait to be sent to peers.")
STRIKES = counter("ledgerd_p2p_strikes_total", "Invalid messages of peers.")
BANS = counter(
    "ledgerd_p2p_bans_total",
    "Bans of addresses: for too many invalid messages, or for a message above the largest size.",
    REASON,
)
PEER_BLOCKS = counter(
    "ledgerd_p2p_blocks_total",
    "Blocks of peers by what became of them: `accepted` as the head, `known` before, kept on a `branch`, of a branch "
    "that cannot become the best (`dead_fork`), or `rejected` by a rule.",
    OUTCOME,
)
BLOCK_DELAY = histogram(
    "ledgerd_p2p_block_delay_seconds",
    "How long after its slot began a block that a peer pushed was received, where it became the head.",
    (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 6.0),
)
SYNCING = gauge("ledgerd_p2p_syncing", "1 while missing blocks are requested in ranges, 0 when the node follows.")
MINORITY = gauge(
    "ledgerd_p2p_minority_fork", "1 while most validators build on another branch than the node's, else 0."
)
