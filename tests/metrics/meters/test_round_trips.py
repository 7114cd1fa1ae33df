"""The round trip of a connection."""

from __future__ import annotations

import socket
import sys

from ledgerd.metrics.meters.peers import round_trip


def test_an_open_connection_has_a_round_trip_and_a_closed_one_has_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        plug = socket.create_connection(server.getsockname(), timeout=5)
        other, _ = server.accept()
        with other:
            plug.sendall(b"x")
            assert other.recv(1) == b"x"
            measured = round_trip(plug)
            plug.close()
            assert round_trip(plug) is None

    assert measured is None if sys.platform != "linux" else measured is not None and 0.0 < measured < 5.0


def test_what_is_no_connection_of_tcp_has_none() -> None:
    first, second = socket.socketpair()
    with first, second:
        assert round_trip(first) is None
