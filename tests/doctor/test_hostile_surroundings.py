"""What answers on the ports of a node, a signer or a file of its directory may say anything: the doctor ends, and no
terminal obeys.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.cli.main import main
from ledgerd.cli.process.health import UNHEALTHY
from ledgerd.doctor.disk import GROWTH_FILE
from ledgerd.doctor.ports import INBOUND_FILE
from ledgerd.producer.signing.signing_frames import SignerStatus
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.types.endpoint import Endpoint
from tests.doctor.broken_node import KEY, NAME, BrokenNode
from tests.raw_server import Answer, RawServer, answering, once

FORGED = "error: key-readable: all is lost"
CONTROL = f"x\x1b[2J\x9b2J\u202e\n{FORGED}\r"


def endpoint_of(server: RawServer) -> Endpoint:
    return Endpoint("127.0.0.1", int(server.url.rpartition(":")[2]))


def health_at(server: RawServer) -> int:
    """The exit code of `--check-health` for a node at a server's port."""
    return main(["--check-health", f"--webserver-http-endpoint={endpoint_of(server)}"])


@pytest.mark.parametrize(
    "said",
    [
        {"ready": False, "reason": CONTROL},
        {"ready": False, "reason": f"{CONTROL} is down: {CONTROL}"},
        {"ready": True, "warning": CONTROL},
    ],
)
def test_no_text_of_a_service_or_a_signer_begins_a_finding(broken: BrokenNode, said: dict[str, object]) -> None:
    broken.run()
    broken.around.ready.answer = said
    broken.use_signer(SignerStatus((NAME,), (public_key_text(KEY.public),), 0, CONTROL))
    findings = broken.findings()
    assert len(findings) == 2
    for line in "\n".join(map(str, findings)).split("\n"):
        assert line.isprintable()
        assert not line.startswith(FORGED)


def _interim_answers(_: bytes) -> Iterator[bytes]:
    yield from itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def _a_byte_now_and_then(_: bytes) -> Iterator[bytes]:
    pause = threading.Event()
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    while not pause.wait(0.05):
        yield b" "


@pytest.mark.parametrize("answer", [_interim_answers, _a_byte_now_and_then], ids=("interim", "drip"))
def test_an_answer_without_an_end_is_none(broken: BrokenNode, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.doctor.service.SECONDS", 0.4)
    monkeypatch.setattr("ledgerd.cli.process.health.SECONDS", 0.4)
    broken.run()
    with answering(answer) as server:
        broken.change(http_endpoint=endpoint_of(server))
        assert broken.names() == ["no-answer"]
        assert health_at(server) == UNHEALTHY


def test_what_answers_in_the_place_of_the_node_is_printed_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    body = CONTROL.encode("latin-1", "replace") * 100_000
    with answering(once(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))) as server:
        health_at(server)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert len(line) < 10_000


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 30, "-1", "\u0661", "x"])
def test_a_damaged_file_of_the_directory_is_read_around(broken: BrokenNode, number: str) -> None:
    damaged: Path = broken.data_dir / INBOUND_FILE
    damaged.write_text(number, encoding="utf-8")
    (broken.data_dir / GROWTH_FILE).write_text(f'{{"samples":[[0,0],[{number},{number}]]}}', encoding="utf-8")
    assert broken.names() == ["not-shown-reachable"]


def test_an_answer_that_is_no_text_is_none(broken: BrokenNode) -> None:
    no_text = b'{"reason":"\xff"}'
    broken.run()
    with answering(once(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(no_text), no_text))) as server:
        broken.change(http_endpoint=endpoint_of(server))
        assert broken.names() == ["no-answer"]


def test_a_file_of_the_directory_that_is_too_large_is_read_around(broken: BrokenNode) -> None:
    for name in (INBOUND_FILE, GROWTH_FILE):
        with (broken.data_dir / name).open("wb") as opened:
            opened.truncate(1 << 40)
    assert broken.names() == ["not-shown-reachable"]
