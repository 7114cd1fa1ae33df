"""Addresses of nodes, as the wallet, the comparison and the explorer take them."""

from __future__ import annotations

import pytest

from ledgerd.client.address import SECURE_SOCKET, SOCKET, NodeAddress, read_address
from ledgerd.protocol.errors import OperatorError


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("http://localhost:8090", NodeAddress("http", "localhost", 8090, "/"), 8090),
        ("https://node.example/rpc", NodeAddress("https", "node.example", None, "/rpc"), 443),
        ("http://[::1]:8090/", NodeAddress("http", "::1", 8090, "/"), 8090),
    ],
)
def test_an_address_is_taken_apart(url: str, address: NodeAddress, port: int) -> None:
    assert read_address(url) == address
    assert read_address(url).port == port


def test_what_travels_encrypted_or_stays_here_is_known() -> None:
    assert read_address("https://node.example").is_secure
    assert not read_address("http://node.example").is_secure
    assert [read_address(f"http://{host}").is_this_machine for host in ("localhost", "127.0.0.2", "[::1]", "a.test")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("url", ["", "node:8090", "ftp://node", "http://", "http://node:99999", "http://[", "ws://node"])
def test_what_is_no_address_is_refused_with_one_that_is(url: str) -> None:
    with pytest.raises(OperatorError, match="http://localhost:8090 is one"):
        read_address(url)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(OperatorError, match="password") as refused:
        read_address("http://me:secret@node.example")
    assert "secret" not in str(refused.value)


def test_sockets_have_an_example_of_their_own() -> None:
    assert read_address("ws://node:1", (SOCKET, SECURE_SOCKET)).scheme == SOCKET
    with pytest.raises(OperatorError, match="ws://localhost:8091 is one"):
        read_address("http://node", (SOCKET, SECURE_SOCKET))
