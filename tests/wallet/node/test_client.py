"""Requests to a node, and what is no answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, WalletError
from ledgerd.wallet.node import client as client_module
from ledgerd.wallet.node.client import NodeClient
from tests.wallet.nodes import Cut, FakeNode, Fault, asking


def refusing(*_: object) -> None:
    raise Fault("a rule is broken")


def cutting(*_: object) -> None:
    raise Cut


def test_a_result_is_given_and_an_error_raised_and_the_connection_used_again() -> None:
    with asking(FakeNode(get=lambda *words: list(words), refuse=refusing)) as client:
        assert client.call("api", "get", 1, "two") == [1, "two"]
        with pytest.raises(NodeRefused, match="a rule is broken"):
            client.call("api", "refuse")
        assert client.call("api", "get") == []


def test_a_connection_that_is_cut_is_an_error_and_the_next_request_makes_another() -> None:
    with asking(FakeNode(cut=cutting, get=5)) as client:
        with pytest.raises(NodeUnreachable, match="does not answer"):
            client.call("api", "cut")
        assert client.call("api", "get") == 5


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 1_000)
    with asking(FakeNode(little="x" * 900, much="x" * 1_001)) as client:
        assert client.call("api", "little") == "x" * 900
        with pytest.raises(NodeUnreachable, match="answers more than"):
            client.call("api", "much")


@contextmanager
def trickling(answer: bytes) -> Iterator[str]:
    """A node whose answer comes byte by byte, for ten seconds and more if somebody listens for so long."""
    gave_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(1 << 16)
                connection.sendall(answer)
                connection.settimeout(0.005)
                for _ in range(2_000):
                    with suppress(TimeoutError):
                        if not connection.recv(1):
                            break
                    connection.sendall(b" ")
                else:
                    return
            gave_up.set()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(60)
        assert gave_up.is_set(), "the client has listened to the end"


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 30000000\r\n\r\n"]
)
def test_an_answer_that_trickles_in_is_not_waited_for(answer: bytes) -> None:
    """Each byte comes in time; all of them would take days."""
    unreachable = pytest.raises(NodeUnreachable, match="does not answer")
    with trickling(answer) as url, NodeClient(url, seconds=0.3) as client, unreachable:
        client.call("api", "get")


@pytest.mark.parametrize(
    ("url", "is_readable"),
    [
        ("http://localhost:8090", False),
        ("http://127.0.0.1:8090", False),
        ("http://[::1]:8090", False),
        ("https://node.example", False),
        ("wss://node.example", False),
        ("http://node.example", True),
        ("ws://192.0.2.1:80", True),
    ],
)
def test_plain_http_beyond_this_machine_can_be_read(url: str, is_readable: bool) -> None:
    assert NodeClient(url).is_readable_by_others is is_readable


@pytest.mark.parametrize("url", ["node.example", "ftp://node.example", "http://", "http://a:b", "http://u:p@host"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(WalletError, match="address"):
        NodeClient(url)
