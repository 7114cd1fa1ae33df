"""The ways to a node besides HTTP: HTTPS, WS and WSS, and somebody in the middle of them."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.sync.server import ServerConnection, serve

from ledgerd.wallet.errors import NodeUnreachable
from ledgerd.wallet.node.client import NodeClient
from tests.signer.certificates import make_certificate
from tests.wallet.nodes import FakeNode, serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the certificate of a node on this machine, and that of one elsewhere."""
    folder = tmp_path_factory.mktemp("lines")
    make_certificate(folder, "own")
    make_certificate(folder, "other", "subjectAltName=DNS:node.example")
    return folder


def context_of(folder: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


@contextmanager
def over_socket(security: ssl.SSLContext | None = None) -> Iterator[str]:
    """A node that gives the words of a request back."""

    def answer(connection: ServerConnection) -> None:
        for text in connection:
            request = json.loads(text)
            connection.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"][2]}))

    with serve(answer, "127.0.0.1", 0, ssl=security) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"{'ws' if security is None else 'wss'}://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join(60)


@contextmanager
def over_https(security: ssl.SSLContext) -> Iterator[str]:
    with serving(FakeNode(get=lambda *words: list(words)), security) as node:
        yield node.url


def test_a_node_is_asked_over_a_websocket() -> None:
    with over_socket() as url, NodeClient(url) as client:
        assert client.call("api", "get", 1, "two") == [1, "two"]
        assert client.call("api", "get") == []


@pytest.mark.parametrize("line", [over_https, over_socket])
def test_whoever_shows_no_certificate_that_the_machine_trusts_is_no_node(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: type
) -> None:
    """The machine trusts no certificate, another one, or one for another name; then that of the node."""
    monkeypatch.setenv("SSL_CERT_DIR", str(folder / "none"))
    for shown, trusted in (("own", "none"), ("own", "other"), ("other", "other")):
        monkeypatch.setenv("SSL_CERT_FILE", str(folder / f"{trusted}.pem"))
        refused = pytest.raises(NodeUnreachable, match="certificate verify failed")
        with line(context_of(folder, shown)) as url, NodeClient(url) as client, refused:
            client.call("api", "get")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "own.pem"))
    with line(context_of(folder, "own")) as url, NodeClient(url) as client:
        assert client.call("api", "get", "told") == ["told"]
        assert not client.is_readable_by_others
