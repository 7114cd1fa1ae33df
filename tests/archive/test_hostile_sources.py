"""Servers and peers that lie beyond their blocks: a fetch from them ends within bounds, and with a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledgerd.archive.errors import SourceFault
from ledgerd.archive.fetching import Fetch
from ledgerd.archive.known import known_blocks
from ledgerd.archive.peers import PeerArchive
from ledgerd.archive.web import WebArchive
from ledgerd.cli.main import main
from ledgerd.client.exchange import AROUND_BYTES
from ledgerd.p2p.wire.frames import pack_frame
from ledgerd.p2p.wire.messages import GetBlockRange
from tests.archive.files import CHAIN, RANGE, without_past
from tests.node.killing import Serving
from tests.p2p.socket_peers import SocketPeer, honest
from tests.raw_server import Answer, answering, once
from tests.recorded import recorded_blocks

OK = b"HTTP/1.1 200 OK\r\n"
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
BUFFERS = 16 << 20
"""What a sender can be rid of before anybody reads it."""


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 500 a\x1b[2J\x9b2J\x85forged\r\nContent-Length: 0\r\n\r\n",
        b"forged\x1b[2J\x9b\x0b\r\nsecond line\r\n\r\n",
        OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n\x1b[2J\x0b\r\n\r\n",
    ],
)
def test_nothing_that_a_server_says_is_obeyed_by_the_terminal(
    tmp_path: Path, raw: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ours"
    without_past(folder)
    with answering(once(raw)) as server:
        assert main(["archive", "fetch", "--data-dir", str(folder), server.url]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"ledgerd: {server.url}")
        assert line.isprintable()


def _endless_interim_answers(_: bytes) -> Iterator[bytes]:
    yield from itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)


def _endless_trailers(_: bytes) -> Iterator[bytes]:
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n"
    yield from itertools.repeat(b"X-Again: 1\r\n" * 1_000)


def _endless_words_around_each_byte(_: bytes) -> Iterator[bytes]:
    yield OK + b"Transfer-Encoding: chunked\r\n\r\n"
    yield from itertools.repeat(b"1;%b\r\n\n\r\n" % (b"a" * 60_000))


@pytest.mark.parametrize(
    "answer",
    [_endless_interim_answers, _endless_trailers, _endless_words_around_each_byte],
    ids=lambda each: each.__name__,
)
def test_what_surrounds_an_answer_has_an_end(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is fast enough is not given up for its pace."""
    monkeypatch.setattr("ledgerd.archive.web.MOST_BYTES", 1_000)
    with answering(answer) as server, pytest.raises(SourceFault, match="more bytes around"):
        WebArchive(server.url, RANGE)
    assert server.sent < AROUND_BYTES + BUFFERS


def test_a_file_that_begins_anew_again_and_again_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time it brings a little more than the time before, so that each time it looks like progress."""
    monkeypatch.setattr("ledgerd.archive.web.PROGRESS_BYTES", 1_000)
    monkeypatch.setattr("ledgerd.archive.sealed.LARGEST_ENTRY", 1_000)
    given = itertools.count(1)

    def more_each_time(request: bytes) -> Iterator[bytes]:
        if b"GET /SHA256SUMS" in request:
            yield MISSING
        elif request.startswith(b"HEAD"):
            yield OK + b"Content-Length: 0\r\n\r\n"
        else:
            yield OK + b"Content-Length: 99000\r\n\r\n" + bytes(1_100 * next(given))
            raise OSError

    logs = without_past(tmp_path / "ours")
    archive = tmp_path / "block-archive"
    with answering(more_each_time) as server, known_blocks(logs, logs, archive) as known:
        with closing(WebArchive(server.url, RANGE)) as web, pytest.raises(SourceFault, match="begins anew too often"):
            Fetch(archive, known, web).run()
        assert server.sent < 3 * RANGE * 1_000


def test_a_peer_that_says_much_and_no_block_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is behind a hundred thousand messages of other kinds: time passes while these are read."""
    seconds = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)), sleep=lambda _: None)

    async def behind_much(peer: SocketPeer, request: GetBlockRange) -> bytes:
        return pack_frame(5_999, b"") * 100_000 + await honest(peer, request)

    logs = without_past(tmp_path / "ours")
    archive = tmp_path / "block-archive"
    peer = Serving(recorded_blocks(CHAIN), behind_much)
    try:
        with known_blocks(logs, logs, archive) as known, closing(PeerArchive(peer.endpoint, known, RANGE)) as source:
            for module in ("ledgerd.archive.peers", "ledgerd.client.blocking"):
                monkeypatch.setattr(f"{module}.time", clock)
            with pytest.raises(SourceFault, match="does not answer: timed out"):
                Fetch(archive, known, source).run()
    finally:
        peer.stop()
    assert next(seconds) < 100_000, "not all of them were read"
