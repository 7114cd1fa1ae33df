"""Requests to a node, and what is no answer."""

from __future__ import annotations

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
