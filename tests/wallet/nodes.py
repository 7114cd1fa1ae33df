"""What stands in for a node: its answers by request, whether they are true or not, over HTTP on loopback."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ledgerd.wallet.node.client import NodeClient


class Fault(Exception):
    """An error that the node answers."""


class Cut(Exception):
    """The node takes the request and closes the connection without an answer."""


class FakeNode:
    """Answers by method; `asked` has every request."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, object] = answers
        self.asked: list[tuple[str, list[Any]]] = []
        self.url = ""

    def answer(self, method: str, arguments: list[Any]) -> object:
        self.asked.append((method, arguments))
        found = self.answers[method]
        return found(*arguments) if callable(found) else found

    def count(self, method: str) -> int:
        return sum(each == method for each, _ in self.asked)


@contextmanager
def asking(node: FakeNode) -> Iterator[NodeClient]:
    """A client of the node."""
    with serving(node), NodeClient(node.url) as client:
        yield client


@contextmanager
def serving(node: FakeNode, security: ssl.SSLContext | None = None) -> Iterator[FakeNode]:
    """The node, as long as it is needed; over HTTPS with such a context."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # the answer in one piece: its second one would wait for 40 ms

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            _, method, arguments = request["params"]
            answer: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
            try:
                answer["result"] = node.answer(method, arguments)
            except KeyError:
                answer["error"] = {"code": -32601, "message": f"no method {method}"}
            except Fault as fault:
                answer["error"] = {"code": -32003, "message": str(fault)}
            except Cut:
                self.close_connection = True
                return
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if security is not None:
        server.socket = security.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    node.url = f"{'http' if security is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield node
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
