"""`ledgerd --check-health`: output and exit code for each status of a node."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ledgerd.cli import main


@contextmanager
def answering(status: int, host: str = "127.0.0.1") -> Iterator[int]:
    """Something on a port that answers each question in the same way."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()
            self.wfile.write(b'{"healthy":true}')

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer((host, 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def asked(folder: Path, *words: str) -> int:
    return main(["--check-health", "--data-dir", str(folder), *words])


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])  # noqa: S104 - closed at once
def test_a_node_that_answers_is_healthy(tmp_path: Path, host: str, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(200) as port:
        assert asked(tmp_path, f"--webserver-http-endpoint={host}:{port}") == 0

    assert capsys.readouterr().out == f'{host}:{port}/health: 200 {{"healthy":true}}\n'


def test_the_older_option_for_both_is_understood(tmp_path: Path) -> None:
    with answering(200) as port:
        assert asked(tmp_path, f"--rpc-endpoint=127.0.0.1:{port}") == 0


def test_another_answer_is_not_healthy(tmp_path: Path) -> None:
    with answering(503) as port:
        assert asked(tmp_path, f"--webserver-http-endpoint=127.0.0.1:{port}") == 1


def test_no_answer_is_not_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    assert asked(tmp_path, f"--webserver-http-endpoint=127.0.0.1:{port}") == 1
    assert capsys.readouterr().err.startswith(f"ledgerd: nothing answers on 127.0.0.1:{port}: ")


def test_a_node_that_serves_no_http_cannot_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(tmp_path) == 1
    assert "has no webserver-http-endpoint" in capsys.readouterr().err


def test_nothing_is_written(tmp_path: Path) -> None:
    asked(tmp_path)

    assert list(tmp_path.iterdir()) == []
