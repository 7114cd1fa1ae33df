"""One exchange of HTTP: any split of an answer's bytes is the same answer; what has no end, or is none, is a fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.client.address import NodeAddress, read_address
from ledgerd.client.exchange import AnswerPart, AnswerReader, HttpFault, TooLarge, request_of
from ledgerd.protocol.errors import OperatorError

NODE = read_address("http://node.example:8090/rpc")
MOST = 10_000


def chunked(body: bytes) -> bytes:
    parts = [body[place : place + 7] for place in range(0, len(body), 7)]
    return b"".join(b"%x;x=y\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\nX-Last: 1\r\n\r\n"


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "a length": lambda body: b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body),
    "chunks": lambda body: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(body),
    "an end": lambda body: b"HTTP/1.1 200 OK\r\n\r\n" + body,
    "words before": lambda body: b"HTTP/1.1 100 Continue\r\n\r\n" + FORMS["a length"](body),
}


@given(st.sampled_from(sorted(FORMS)), st.binary(max_size=200), st.lists(st.integers(0, 700)))
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(form: str, body: bytes, places: list[int]) -> None:
    raw, reader, found = FORMS[form](body), AnswerReader(MOST), b""
    cuts = sorted({min(place, len(raw)) for place in places})
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        if start < end:
            reader.feed(raw[start:end])
            found += reader.take()
    assert reader.is_whole is (form != "an end")
    reader.feed(b"")
    assert (reader.status, reader.reason, found, reader.is_whole) == (200, "OK", body, True)
    assert reader.keeps_open is (form != "an end")


@given(st.sampled_from(["a length", "chunks"]), st.binary(min_size=1, max_size=200), st.data())
def test_an_answer_that_is_cut_off_is_a_fault(form: str, body: bytes, data: st.DataObject) -> None:
    raw, reader = FORMS[form](body), AnswerReader(MOST)
    reader.feed(raw[: data.draw(st.integers(1, len(raw) - 1))])
    with pytest.raises(HttpFault, match="the connection ended within the answer"):
        reader.feed(b"")


@given(st.binary(min_size=1, max_size=300))
def test_other_bytes_are_an_answer_or_a_fault_and_nothing_else(raw: bytes) -> None:
    reader = AnswerReader(MOST)
    try:
        reader.feed(raw)
        reader.feed(b"")
    except HttpFault:
        assert not reader.keeps_open


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_body_has_so_many_bytes(form: str) -> None:
    AnswerReader(MOST).feed(FORMS[form](bytes(MOST)))
    with pytest.raises(TooLarge, match="more than 10,000 bytes"):
        AnswerReader(MOST).feed(FORMS[form](bytes(MOST + 1)))


@pytest.mark.parametrize(
    ("begun", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X-Again: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"aaaaaaaaaa"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"a" * 300 + b"\r\n\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Again: 1\r\n"),
    ],
)
def test_what_stands_around_a_body_has_an_end(begun: bytes, again: bytes) -> None:
    reader = AnswerReader(100, around=5_000)
    reader.feed(begun or again)
    for _ in range(4_000 // len(again)):
        reader.feed(again)
    with pytest.raises(TooLarge, match="more bytes around an answer"):
        reader.feed(again * (2_000 // len(again)))


def test_no_more_is_read_than_is_wanted() -> None:
    raw = b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"
    status, head = AnswerReader(0, AnswerPart.STATUS, 100), AnswerReader(0, AnswerPart.HEAD)
    status.feed(raw[:20] + b"x" * 1_000)
    head.feed(raw)
    assert (status.status, status.is_whole, status.keeps_open) == (204, True, False)
    assert (head.status, head.length, head.is_whole, head.keeps_open) == (204, 5, True, True)


def test_what_answers_nothing_that_was_asked_ends_the_connection() -> None:
    reader = AnswerReader(MOST)
    reader.feed(FORMS["a length"](b"one") + FORMS["a length"](b"two"))
    assert (reader.take(), reader.keeps_open) == (b"one", False)


def test_a_request_says_where_it_goes_and_what_it_holds() -> None:
    assert request_of("POST", NODE, NODE.path, b"{}", {"X-A": "b"}) == (
        b"POST /rpc HTTP/1.1\r\nHost: node.example:8090\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        b"X-A: b\r\n\r\n{}"
    )
    assert request_of("GET", read_address("https://[::1]"), "/a") == b"GET /a HTTP/1.1\r\nHost: [::1]\r\n\r\n"


def test_a_host_whose_name_is_none_is_a_fault() -> None:
    with pytest.raises(HttpFault, match="is no name of a host"):
        request_of("GET", NodeAddress("http", "a" * 64, None, "/"), "/")
    with pytest.raises(OperatorError, match="is no address of a node"):
        read_address(f"http://{'a' * 64}")


@pytest.mark.parametrize(("path", "value"), [("/a b", ""), ("/a\r\nX: y", ""), ("/\xe9", ""), ("/", "a\nb")])
def test_no_word_of_a_request_ends_its_line(path: str, value: str) -> None:
    with pytest.raises(HttpFault, match="cannot be asked for"):
        request_of("GET", NODE, path, headers={"X": value})
