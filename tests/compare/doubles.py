"""Nodes for a comparison: a replayed recorded chain behind a port, whose answers a test may change."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.rpc.api.serving import copy_followed, dispatcher_over

CHAIN, HEIGHT = "open-pm2", 463

Change = Callable[[str, list[Any], Any], Any]
"""Gets the method, the arguments and the result, and gives the result that is sent."""

Reply = Callable[[bytes], tuple[int, bytes]]
"""The status and the body for the body of a request."""


def unchanged(_method: str, _arguments: list[Any], result: Any) -> Any:
    """The result as it is."""
    return result


@contextmanager
def listening(reply: Reply) -> Iterator[str]:
    """The address of a server that answers every POST."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            status, body = reply(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def recorded_node(folder: Path, change: Change = unchanged, chain: str = CHAIN, height: int = HEIGHT) -> Iterator[str]:
    """The address of a node with a recorded chain."""
    copy_followed(chain, height, folder)
    with dispatcher_over(chain, folder) as dispatcher:
        lock = threading.Lock()

        def reply(body: bytes) -> tuple[int, bytes]:
            request = json.loads(body)
            with lock:
                answer = dispatcher.answer(body)
            assert isinstance(answer, bytes)
            envelope = json.loads(answer.decode("utf-8", "surrogateescape"))
            _, method, arguments = request["params"]
            if "result" in envelope:
                envelope["result"] = change(method, arguments, envelope["result"])
            return 200, json.dumps(envelope).encode()

        with listening(reply) as url:
            yield url
