"""The report on peers that the node logs from time to time (spec 04, section 24): a heading, and a line for each."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life, Peer

FORKS = ("NORMAL", "LOOKING", "MINORITY")
LIVES = {
    Life.CONNECTING: "CONNECT",
    Life.HANDSHAKING: "HANDSHAKE",
    Life.ACTIVE: "ACTIVE",
    Life.SYNCING: "SYNCING",
}


def _fork(status: int) -> str:
    return FORKS[status] if status < len(FORKS) else "?"


def peer_report(core: Core, now: float) -> Iterator[str]:
    uptime, chain, peers = int(now - core.started), core.chain, core.peers()
    yield (
        f"=== DLT P2P Stats | status={'SYNC' if core.mode is Mode.SYNC else 'FWD'} fork={_fork(core.fork_status)} "
        f"head={chain.head_number} lib={chain.lib_number} peers={len(peers)} conn={core.connections} "
        f"paused=no uptime={uptime // 3600}h{uptime % 3600 // 60}m{uptime % 60}s ==="
    )
    yield from (_line(peer) for peer in peers if peer.life in LIVES)
    yield "=== End DLT P2P Stats ==="


def _line(peer: Peer) -> str:
    flags = (
        ("+align", peer.is_aligned),
        ("+emrg", peer.is_emergency),
        ("+ekey", peer.has_emergency_key),
        ("+sync", peer.life is Life.SYNCING),
    )
    return (
        f"{peer.endpoint} | {LIVES[peer.life]} | exch={'YES' if peer.exchange else 'no'} | head={peer.head_number} "
        f"lib={peer.lib_number} | range={peer.earliest}-{peer.latest} | peer_fork={_fork(peer.fork_status)[:4]} "
        f"peer_node={'FWD' if peer.node_status else 'SYNC'} | spam={peer.strikes} | "
        f"{' '.join(name for name, is_set in flags if is_set) or '-'}"
    )
