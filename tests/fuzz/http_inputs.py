"""Requests over HTTP/1.1, damaged and cut into pieces: in whatever pieces, they are read as the same requests."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

from ledgerd.rpc.http.reader import (
    BETWEEN,
    ENDED,
    Arrival,
    ContinueExpected,
    Handshake,
    Refusal,
    Request,
    RequestReader,
)
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Broken
from tests.rpc.recorded_requests import recorded_exchanges

MAX_HEADER, MAX_BODY = 1_000, 400
STATUSES = frozenset((400, 413, 431))

WORDS = (
    *(
        b"\r\n",
        b"\r",
        b"\n",
        b"\r\n\r\n",
        b": ",
        b":",
        b" ",
        b"\t",
        b"\x00",
        b"\xff",
        b"0\r\n\r\n",
        b"HTTP/1.0",
        b"HTTP/1.1",
    ),
    *(b"Content-Length: 3\r\n", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n", b"Host: b\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Connection: close\r\n"),
    *(b"Connection: Upgrade\r\n", b"Upgrade: websocket\r\n", b"Expect: 100-continue\r\n", b"GET", b"CONNECT", b"POST"),
    *(b" folded\r\n", b"X-Forwarded-For: 1.2.3.4\r\n", b"Origin: http://a\r\n", b"ffffffff\r\n", b"-1\r\n", b"x" * 500),
)


class Stream(NamedTuple):
    """Bytes of a connection, and where they are cut."""

    data: bytes
    cuts: tuple[int, ...]


@cache
def _requests() -> tuple[bytes, ...]:
    host = b"Host: node\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;a=b\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
    handshake = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ours = (
        b"GET /health HTTP/1.1\r\n" + host + b"\r\n",
        b"POST / HTTP/1.1\r\n" + host + chunks,
        b"POST / HTTP/1.0\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}",
        b"POST / HTTP/1.1\r\n" + host + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
        b"POST / HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        b"GET / HTTP/1.1\r\n" + host + b"Connection: Upgrade\r\nUpgrade: websocket\r\n" + handshake + b"\x81\x85rest",
    )
    return (*ours, *(_written(each.body.encode(), host) for each in recorded_exchanges() if len(each.body) < 300))


def _written(body: bytes, headers: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (headers, len(body), body)


class Http:
    """The requests of one connection."""

    def make(self, random: Random) -> Stream:
        requests = _requests()
        data = b"".join(random.choice(requests) for _ in range(1 + int(random.random() * 3)))
        if random.random() < 0.95:
            data = damaged(random, data, WORDS)
        cuts = sorted(int(random.random() * (len(data) + 1)) for _ in range(int(random.random() * 4)))
        return Stream(data, tuple(cuts))

    def survive(self, given: Stream) -> bool:
        whole, pieced = reader(), reader()
        at_once = checked(whole, whole.feed(given.data))
        bounds = pairwise((0, *given.cuts, len(given.data)))
        in_pieces = [each for start, end in bounds for each in checked(pieced, pieced.feed(given.data[start:end]))]
        agree(at_once, in_pieces)
        requests = [each for each in at_once if isinstance(each, Request)]
        for each in requests:
            _is_canonical(each)
        _is_repeated_rightly(whole, given.data)
        return bool(requests)


def reader() -> RequestReader:
    return RequestReader(header_bytes=MAX_HEADER, body_bytes=MAX_BODY, takes_handshakes=True)


def checked(reading: RequestReader, arrivals: list[Arrival]) -> list[Arrival]:
    """What holds for whatever arrives."""
    for each in arrivals[:-1]:
        if isinstance(each, Refusal | Handshake):
            raise Broken(f"something follows {each!r}")
    for each in arrivals:
        if isinstance(each, Request) and len(each.body) > MAX_BODY:
            raise Broken(f"a body of {len(each.body)} bytes")
        if isinstance(each, Refusal) and (each.status not in STATUSES or reading.place is not ENDED):
            raise Broken(f"a refusal that does not end the connection: {each!r}")
        if not isinstance(each, Request | Refusal | Handshake | ContinueExpected):
            raise Broken(f"not an arrival: {each!r}")
    if reading.held > MAX_BODY:
        raise Broken(f"{reading.held} bytes of a body are held")
    return arrivals


def agree(at_once: list[Arrival], in_pieces: list[Arrival]) -> None:
    """The same arrives in whatever pieces; the bytes of a header are counted as they come, so a refusal may differ."""
    if _is_refused(at_once, 431) or _is_refused(in_pieces, 431):
        return
    if _without_rest(at_once) != _without_rest(in_pieces):
        raise Broken(f"{in_pieces!r} in pieces, {at_once!r} at once")


def _is_refused(arrivals: list[Arrival], status: int) -> bool:
    return bool(arrivals) and arrivals[-1] == Refusal(status)


def _without_rest(arrivals: list[Arrival]) -> list[Arrival]:
    """Without the bytes that came with a handshake, which the next piece may bring."""
    return [each._replace(rest=b"") if isinstance(each, Handshake) else each for each in arrivals]


def _is_canonical(request: Request) -> None:
    """A request that is written again is read as the same."""
    framing = {b"content-length", b"transfer-encoding", b"upgrade", b"expect", b"connection"}
    lines = b"".join(b"%b: %b\r\n" % each for each in request.headers.items() if each[0] not in framing)
    lines += b"" if b"host" in request.headers else b"Host: a\r\n"
    method = request.method if request.method != b"CONNECT" else b"GET"
    head = b"%b %b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n" % (method, request.path, lines, len(request.body))
    again = reader().feed(head + request.body)
    if [each[1:3] for each in again if isinstance(each, Request)] != [(request.path, request.body)]:
        raise Broken(f"{again!r} instead of {request!r}")


def _is_repeated_rightly(reading: RequestReader, data: bytes) -> None:
    """What is recognised by its head alone is what the parser would have read."""
    if reading.place is not BETWEEN:
        return
    known = reading.repeated(data)
    if known is not None:
        [read] = reader().feed(data)
        if known._replace(body=reading.repeated_body(data)) != read:
            raise Broken(f"{known!r} recognised, {read!r} read")
