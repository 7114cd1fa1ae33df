"""HTTP for programs that wait: one connection, replaced where the server has closed it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from ledgerd.client.address import read_address
from ledgerd.client.blocking import Deadline, HttpClient
from ledgerd.client.exchange import HttpFault
from tests.raw_server import answering

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"


def test_requests_follow_each_other_on_one_connection_as_long_as_it_stands() -> None:
    counts = itertools.count()

    def answer(_: bytes) -> Iterator[bytes]:
        closes = next(counts) == 1
        yield OK + (b"Connection: close\r\n\r\n{}" if closes else b"\r\n{}")
        if closes:
            raise OSError

    with answering(answer) as server, closing(HttpClient(read_address(server.url))) as client:
        found = [client.post(b"{}", 30, 100).body for _ in range(4)]
        assert found == [b"{}"] * 4
        assert not client.connect(Deadline(30)), "the last one stands"


@pytest.mark.parametrize("is_repeatable", [True, False])
def test_only_what_is_repeatable_is_sent_once_more_where_a_connection_ends_without_a_byte(is_repeatable: bool) -> None:
    counts = itertools.count()

    def answer(_: bytes) -> Iterator[bytes]:
        if next(counts) == 1:
            raise OSError
        yield OK + b"\r\n{}"

    with answering(answer) as server, closing(HttpClient(read_address(server.url))) as client:
        assert client.post(b"{}", 30, 100).status == 200
        if is_repeatable:
            assert client.post(b"{}", 30, 100, is_repeatable=True).status == 200
        else:
            with pytest.raises(HttpFault, match="the connection ended"):
                client.post(b"{}", 30, 100)
        assert client.post(b"{}", 30, 100).status == 200


def test_of_a_page_so_many_bytes_are_read() -> None:
    with (
        answering(lambda _: iter((b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000))) as server,
        closing(HttpClient(read_address(server.url))) as client,
    ):
        assert client.get("/", 30, 1_000).body == b"x" * 1_000


def test_a_deadline_holds_for_the_whole_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    deadline = Deadline(3)
    assert [deadline.left(), deadline.left()] == [2.0, 1.0]
    with pytest.raises(TimeoutError, match="timed out"):
        deadline.left()
