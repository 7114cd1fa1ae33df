"""The HTTP request parser: any split of the bytes gives the same requests; invalid ones are refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.http.reader import (
    BETWEEN,
    BODY,
    ENDED,
    HEAD,
    Arrival,
    ContinueExpected,
    Handshake,
    Refusal,
    Request,
    RequestReader,
)

HOST = b"Host: node\r\n"
MAX_HEADER, MAX_BODY = 300, 100


def reader() -> RequestReader:
    return RequestReader(header_bytes=MAX_HEADER, body_bytes=MAX_BODY, takes_handshakes=True)


def post(body: bytes, headers: bytes = HOST) -> bytes:
    return b"POST / HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (headers, len(body), body)


def chunked(*pieces: bytes) -> bytes:
    head = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (*pieces, b""))


def asked(body: bytes, method: bytes = b"POST") -> Request:
    return Request(method, b"/", body, True, False, {})


def read(pieces: Iterable[bytes]) -> list[Arrival]:
    reading = reader()
    return [arrival for piece in pieces for arrival in without_headers(reading.feed(piece))]


def without_headers(arrivals: list[Arrival]) -> list[Arrival]:
    return [each._replace(headers={}) if isinstance(each, Request) else each for each in arrivals]


REQUESTS = {
    "a body": (post(b"{}"), asked(b"{}")),
    "no body": (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", asked(b"", b"GET")),
    "chunks": (chunked(b"{", b"}"), asked(b"{}")),
    "another protocol offered": (post(b"{}", HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n"), asked(b"{}")),
    "keep-alive": (post(b"1", HOST + b"Connection: keep-alive\r\n"), asked(b"1")._replace(says_so=True)),
}


@given(st.lists(st.sampled_from(sorted(REQUESTS)), max_size=4), st.data())
def test_requests_are_the_same_in_whatever_pieces_they_come(names: list[str], data: st.DataObject) -> None:
    stream = b"".join(REQUESTS[name][0] for name in names)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert read(pieces) == [REQUESTS[name][1] for name in names]


@given(st.lists(st.binary(max_size=400), max_size=6))
def test_no_bytes_break_the_reader(pieces: list[bytes]) -> None:
    arrivals = read(pieces)

    assert [each for each in arrivals[:-1] if isinstance(each, Refusal)] == []


@given(st.lists(st.sampled_from(sorted(REQUESTS)), min_size=1, max_size=3), st.binary(max_size=30), st.integers(0, 500))
def test_no_fault_within_requests_breaks_the_reader(names: list[str], noise: bytes, place: int) -> None:
    stream = b"".join(REQUESTS[name][0] for name in names)

    read([stream[: place % len(stream)] + noise + stream[place % len(stream) :]])


@pytest.mark.parametrize(
    ("stream", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"CONNECT node:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"POST / HTTP/1.1\r\n\r\n", 400),
        (post(b"", HOST + b"no colon\r\n"), 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: two\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", 400),
        (post(b"{}", HOST + b"Transfer-Encoding: chunked\r\n"), 400),
        (post(b"", HOST + b"X: %b\r\n" % (b"x" * MAX_HEADER)), 431),
        (b"GET /%b HTTP/1.1\r\n%b\r\n" % (b"x" * MAX_HEADER, HOST), 431),
        (post(b"x" * (MAX_BODY + 1)), 413),
        (chunked(b"x" * MAX_BODY, b"x"), 413),
    ],
)
def test_what_cannot_be_read_or_is_too_large_is_refused(stream: bytes, status: int) -> None:
    assert read([stream]) == [Refusal(status)]


def test_a_body_of_the_largest_size_is_taken() -> None:
    assert read([post(b"x" * MAX_BODY), chunked(b"x" * MAX_BODY)]) == [asked(b"x" * MAX_BODY)] * 2


@pytest.mark.parametrize("length", [b"%b2" % (b"0" * 5_000), b"%b2 " % (b"0" * 5_000), b"02"])
def test_a_length_of_any_number_of_digits_is_read(length: bytes) -> None:
    reading = RequestReader(header_bytes=16_000, body_bytes=MAX_BODY, takes_handshakes=True)

    assert reading.feed(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %b\r\n\r\n{" % length) == []
    assert reading.body_to_come == 1
    [request] = without_headers(reading.feed(b"}"))
    assert request == asked(b"{}")


@pytest.mark.parametrize("length", [b"0", b"0" * 5_000, b"%b " % (b"0" * 5_000)])
def test_a_length_of_zeros_alone_is_none(length: bytes) -> None:
    reading = RequestReader(header_bytes=16_000, body_bytes=0, takes_handshakes=True)

    arrived = reading.feed(b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: %b\r\n\r\n" % length)
    assert without_headers(arrived) == [asked(b"", b"GET")]


def test_a_header_that_does_not_end_is_refused_before_it_fills_the_memory() -> None:
    reading = reader()
    reading.feed(b"GET / HTTP/1.1\r\n" + HOST + b"X: ")

    arrivals = [arrival for _ in range(MAX_HEADER) for arrival in reading.feed(b"xx")]

    assert arrivals == [Refusal(431)]
    assert reading.place is ENDED


def test_nothing_is_read_after_a_refusal() -> None:
    assert read([b"nonsense\r\n\r\n", post(b"{}")]) == [Refusal(400)]


def test_what_comes_in_one_piece_with_a_request_that_is_refused_is_not_read() -> None:
    reading = reader()

    assert reading.feed(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}" + post(b"{}")) == [Refusal(400)]
    assert reading.place is ENDED


def test_requests_before_a_fault_are_taken() -> None:
    assert read([post(b"{}") + b"nonsense\r\n\r\n"]) == [asked(b"{}"), Refusal(400)]


def test_a_request_of_the_old_version_needs_no_host_and_does_not_stay() -> None:
    assert read([b"GET / HTTP/1.0\r\n\r\n"]) == [asked(b"", b"GET")._replace(keeps_open=False)]


def test_a_client_that_expects_100_continue_gets_it() -> None:
    head, body = post(b"{}", HOST + b"Expect: 100-continue\r\n").split(b"\r\n\r\n")

    assert read([head + b"\r\n\r\n", body]) == [ContinueExpected(), asked(b"{}")]


def test_a_handshake_is_returned_with_the_bytes_after_it() -> None:
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"

    [handshake] = read([b"GET / HTTP/1.1\r\n" + HOST + offer + b"\r\nframes"])

    assert isinstance(handshake, Handshake)
    assert handshake.rest == b"frames"
    assert handshake.headers[b"sec-websocket-version"] == b"13"


def test_a_handshake_that_is_refused_is_none() -> None:
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"

    assert read([b"GET / HTTP/1.1\r\n" + offer + b"\r\nframes"]) == [Refusal(400)]


def test_where_no_handshake_is_taken_it_is_an_ordinary_request() -> None:
    reading = RequestReader(header_bytes=MAX_HEADER, body_bytes=MAX_BODY, takes_handshakes=False)
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    assert without_headers(reading.feed(b"GET / HTTP/1.1\r\n" + HOST + offer)) == [asked(b"", b"GET")]


def test_the_place_and_the_steps_follow_the_request() -> None:
    reading, places = reader(), []
    for piece in (b"POST / HT", b"TP/1.1\r\n" + HOST, b"Content-Length: 2\r\n\r\n", b"{", b"}"):
        reading.feed(piece)
        places.append((reading.place, reading.steps))

    assert places == [(HEAD, 1), (HEAD, 1), (BODY, 2), (BODY, 2), (BETWEEN, 3)]


# -- heads that are known already


@given(st.binary(min_size=1, max_size=20), st.binary(min_size=1, max_size=20))
def test_a_request_with_the_head_of_the_one_before_is_recognised(first: bytes, second: bytes) -> None:
    reading = reader()
    reading.feed(post(first))
    known = reading.repeated(post(second))

    assert (known is not None) == (len(first) == len(second))
    if known is not None:
        assert known._replace(body=reading.repeated_body(post(second)), headers={}) == asked(second)


@pytest.mark.parametrize(
    "stream",
    [
        post(b"{}") + b"\r\n",
        b"\r\n\r\n" + post(b"{}"),
        post(b"{}") + post(b"{}"),
        chunked(b"{}"),
        post(b"{}", HOST + b"Connection: close\r\n"),
        post(b"{}", HOST + b"Expect: 100-continue\r\n"),
        post(b"{}")[:-1],
    ],
)
def test_only_the_head_of_one_whole_lasting_request_is_remembered(stream: bytes) -> None:
    reading = reader()
    reading.feed(stream)

    assert reading.repeated(stream) is None


def test_a_known_head_is_not_looked_for_within_a_request() -> None:
    reading = reader()
    again = post(b"{}")
    reading.feed(again)
    reading.feed(post(b"x" * (len(again) + 1))[: -len(again) - 1])

    assert reading.repeated(again) is None
    assert without_headers(reading.feed(again + b"x")) == [asked(again + b"x")]


def test_of_headers_that_decide_who_may_ask_none_is_overlooked() -> None:
    twice = b"Host: a\r\nHost: b\r\nOrigin: c\r\nX-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\n"

    [request] = reader().feed(post(b"1", twice))

    assert isinstance(request, Request)
    wanted = {b"host": b"a, b", b"origin": b"c", b"x-forwarded-for": b"192.0.2.1, 192.0.2.2", b"content-length": b"1"}
    assert request.headers == wanted


def test_a_body_in_many_parts_is_in_memory_once() -> None:
    part, count = b"x" * 65_536, 256
    reading = RequestReader(header_bytes=MAX_HEADER, body_bytes=len(part) * count, takes_handshakes=True)
    reading.feed(b"POST / HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n" % (HOST, len(part) * count))
    tracemalloc.start()
    try:
        arrived = [each for _ in range(count) for each in reading.feed(part)]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert [each.body for each in arrived if isinstance(each, Request)] == [part * count]
    assert most < 1.5 * len(part) * count


def test_what_follows_a_body_in_chunks_changes_no_header_and_has_the_bound_of_the_head() -> None:
    proxied = b"X-Forwarded-For: 198.51.100.1\r\n"
    head = b"POST / HTTP/1.1\r\n" + HOST + proxied + b"Transfer-Encoding: chunked\r\n\r\n"
    behind = b"2\r\n{}\r\n0\r\nHost: other\r\nOrigin: https://page\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n"
    first, second = reader().feed(head + behind + post(b"{}"))
    assert isinstance(first, Request)
    assert isinstance(second, Request)
    assert first.headers == {
        b"host": b"node", b"x-forwarded-for": b"198.51.100.1", b"transfer-encoding": b"chunked"
    }  # fmt: skip
    assert second.headers == {b"host": b"node", b"content-length": b"2"}
    assert read([head + b"0\r\n", *[b"a: b\r\n"] * MAX_HEADER])[-1] == Refusal(431)
