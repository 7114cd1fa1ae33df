"""The options of the plugin p2p: peers, exchange of addresses, pending transactions (spec 06, 5.3)."""

from __future__ import annotations

from ledgerd.node.config.options.declaration import Option, OptionSection, our_option
from ledgerd.node.config.values.endpoints import EXEMPT, P2P_LISTENING, PEER
from ledgerd.node.config.values.values import BOOL, SWITCH, UINT32, uint32
from ledgerd.p2p.shared.settings import Settings

LEAST_STATS_INTERVAL = 30


_NEVER_READ = "the reference never reads it"

P2P = OptionSection(
    "p2p",
    "Peers, the exchange of addresses, and pending transactions.",
    Settings,
    (
        Option(
            "p2p-endpoint",
            P2P_LISTENING,
            "The address and port to listen on for peers. Without it, the node connects to peers, but accepts no "
            "connections.",
            example="0.0.0.0:2001",
        ),
        Option("p2p-max-connections", UINT32, "The most connections to peers, in both directions.", default="50"),
        Option(
            "p2p-seed-node",
            PEER,
            "A peer to connect to at the start, by name or by number.",
            repeatable=True,
            older_names=("seed-node",),
            field="seeds",
        ),
        Option(
            "dlt-peer-max-disconnect-hours",
            UINT32,
            "Hours without a connection after which a peer's address is dropped.",
            default="8",
        ),
        Option("dlt-mempool-max-tx", UINT32, "The most pending transactions.", default="10000"),
        Option(
            "dlt-mempool-max-bytes",
            UINT32,
            "The most bytes of pending transactions.",
            default="104857600",
        ),
        Option("dlt-mempool-max-tx-size", UINT32, "The most bytes of one transaction from a peer.", default="65536"),
        Option(
            "dlt-mempool-max-expiration-hours",
            UINT32,
            "Transactions that expire more than this many hours from now are refused.",
            default="24",
        ),
        Option("dlt-peer-exchange-max-per-reply", UINT32, "The most addresses in one answer to a peer.", default="10"),
        Option("dlt-peer-exchange-max-per-subnet", UINT32, "The most of them from one /24 network.", default="2"),
        Option(
            "dlt-peer-exchange-min-uptime-sec",
            UINT32,
            "Seconds that a peer must have been connected before its address is sent to others.",
            default="600",
        ),
        Option(
            "dlt-stats-interval-sec",
            uint32(raised_to=LEAST_STATS_INTERVAL),
            "Seconds between two reports on peers in the log.",
            default="300",
        ),
        Option(
            "p2p-isolated-peers",
            SWITCH,
            "Connect to the seed nodes only.",
            default="false",
            field="is_isolated",
        ),
        our_option(
            "p2p-exempt",
            EXEMPT,
            "Addresses without limits by address: networks such as 10.0.0.0/8; private for this machine and private "
            "networks; none for no exemption.",
            default="private",
            repeatable=True,
            words=True,
        ),
        our_option(
            "recover-from-wedge",
            BOOL,
            "Help the node out of a dead end where that loses nothing: when peers show blocks 200 above its head, with "
            "the signatures of two thirds of the validators, and it makes no progress for five minutes, it forgets all "
            "branches, then goes back to its irreversible block.",
            default="true",
            field="recovers",
        ),
        Option(
            "auto-resync-on-wedge",
            BOOL,
            "If that does not help, replace the state by a snapshot of a trusted peer, where that passes all checks, "
            "has our irreversible block in its chain, and peers confirm its head.",
            default="false",
            field="auto_resync",
        ),
    ),
    without_meaning=tuple(
        Option(name, kind, f"In {where} of the reference.", default=default, without_meaning=_NEVER_READ)
        for name, kind, default, where in (
            ("p2p-stale-sync-detection", BOOL, "false", "templates"),
            ("p2p-stale-sync-timeout-seconds", UINT32, "120", "templates"),
            ("p2p-stats-enabled", BOOL, "true", "documents"),
        )
    ),
    prefixes=("p2p-", "dlt-"),
)
