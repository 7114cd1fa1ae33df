"""The report on peers, in the words that scripts look for."""

from __future__ import annotations

from pathlib import Path

from ledgerd.p2p.report import peer_report
from tests.chain.networks import Network
from tests.p2p.scripted_talk import Talk


def test_a_report_has_a_line_for_each_peer(tmp_path: Path) -> None:
    network = Network(tmp_path)
    network.start()
    talk = Talk(network.chain)
    peer = talk.meet("192.0.2.7")
    talk.accept("192.0.2.99")

    first, *lines, last = peer_report(talk.network.core, talk.now + 3723)

    head = network.chain.head_number
    assert first.startswith("=== DLT P2P Stats | status=")
    assert first.endswith(
        f" fork=NORMAL head={head} lib={network.chain.irreversible} peers=2 conn=2 paused=no uptime=1h2m3s ==="
    )
    assert lines[0].startswith(f"{talk.network.core[peer].endpoint} | ACTIVE | exch=")
    assert (
        f" | head={head} lib={network.chain.irreversible} | range=0-{head} | peer_fork=NORM peer_node=FWD" in lines[0]
    )
    assert " | HANDSHAKE | exch=no | head=0 lib=0 |" in lines[1]
    assert last == "=== End DLT P2P Stats ==="
    network.chain.close()
