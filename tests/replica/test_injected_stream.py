"""Somebody between a replica and its node, who changes what goes by: the connection ends, and the state stays right."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ledgerd.producer.signing.signer_place import TlsFiles, tls_context
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.state.files.change_frames import RecordHead
from tests.chain.recorded_chains import LIKE_THE_RECORDING, network_of
from tests.chain.replays import copy_replayed
from tests.ports import free_port
from tests.replica.copies.test_following import blocks_of
from tests.replica.nodes import RunningReplica, ServedNode, assert_equal
from tests.signer.certificates import Certificates

CHAIN, START = "open-2", 330
HANDSHAKE = 4_000
"""Bytes of the node that go by unchanged: its certificate, and the beginning of the state."""
FORGED = RecordHead(b"a" * 16, b"b" * 16, 1, 0).packed

Change = Callable[[bytes], bytes | None]

CHANGES: dict[str, Change] = {
    "a frame of changes put between": lambda data: FORGED + data,
    "a record of TLS put between": lambda data: b"\x17\x03\x03" + len(FORGED).to_bytes(2, "big") + FORGED + data,
    "a flipped bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "something twice": lambda data: data + data,
    "something left out": lambda data: data[: len(data) // 2],
    "an alert put between": lambda _: b"\x15\x03\x03\x00\x02\x01\x00",
    "an end": lambda _: None,
}


class Between:
    """Passes connections on to a node, and changes the node's bytes of the first one."""

    def __init__(self, node: int, change: Change) -> None:
        self.port, self._node = free_port(), node
        self._change: Change | None = change
        self._plug = socket.create_server(("127.0.0.1", self.port))
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                replica, _ = self._plug.accept()
                self._kept.append(replica)
                threading.Thread(target=self._pass_on, args=(replica,), daemon=True).start()

    def _pass_on(self, replica: socket.socket) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._node)) as node:
            threading.Thread(target=copy_bytes, args=(replica, node), daemon=True).start()
            passed = 0
            while data := node.recv(1 << 14):
                change = self._change if passed > HANDSHAKE else None
                passed += len(data)
                if change is not None:
                    self._change = None
                    changed = change(data)
                    if changed is None:
                        break
                    data = changed
                replica.sendall(data)
        with suppress(OSError):
            replica.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._plug.shutdown(socket.SHUT_RDWR)
        for each in (self._plug, *self._kept):
            each.close()


def copy_bytes(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 14):
            target.sendall(data)


@pytest.fixture(autouse=True)
def _be_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.replica.copies.following.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("ledgerd.replica.copies.following.STOP_SECONDS", 0.05)
    monkeypatch.setattr("ledgerd.replica.copies.following.SILENT_SECONDS", 3600.0)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def settings_at(port: int, files: TlsFiles) -> StreamSettings:
    place = read_stream_place(f"tcp://127.0.0.1:{port}")
    return StreamSettings(place, files.certificate, files.certificate_key, files.authority)


@contextmanager
def served(folder: Path, certificates: Certificates) -> Iterator[tuple[ServedNode, int]]:
    copy_replayed(CHAIN, START, folder)
    port = free_port()
    with ServedNode(folder, network_of(CHAIN), settings_at(port, certificates.signer)) as node:
        node.serve()
        yield node, port


@pytest.mark.parametrize("what", CHANGES)
def test_a_stream_that_was_changed_on_the_way_ends_and_nothing_of_it_is_kept(
    what: str, certificates: Certificates, tmp_path: Path
) -> None:
    with served(tmp_path / "node", certificates) as (node, port):
        between = Between(port, CHANGES[what])
        with RunningReplica(settings_at(between.port, certificates.node), tmp_path / "replica") as replica:
            replica.wait_for_head(START)
            node.push(blocks_of(CHAIN, START + 1, START + 5), skip=LIKE_THE_RECORDING)
            replica.wait_for_head(START + 5)
        between.close()
    assert_equal(node.state, replica.state)
    assert any(status.problem and not status.is_sound for status in replica.told), "it ended before it had a state"


class Impostor:
    """A server that shows another certificate than the node's, and keeps whatever it is told."""

    def __init__(self, files: TlsFiles, host: str = "127.0.0.1") -> None:
        self.port, self._context = free_port(), tls_context(files, is_signer=True)
        self._plug = socket.create_server((host, self.port))
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                accepted, _ = self._plug.accept()
                with suppress(OSError), self._context.wrap_socket(accepted, server_side=True) as secured:
                    self.heard.append(secured.recv(1 << 14))

    def close(self) -> None:
        self._plug.shutdown(socket.SHUT_RDWR)
        self._plug.close()


@pytest.mark.parametrize("is_known", [False, True], ids=["a stranger's certificate", "a certificate of a replica"])
def test_a_replica_says_nothing_to_a_server_with_another_certificate(
    is_known: bool, certificates: Certificates, tmp_path: Path
) -> None:
    impostor = Impostor(certificates.node if is_known else certificates.stranger)
    with RunningReplica(settings_at(impostor.port, certificates.node), tmp_path / "replica") as replica:
        problem = replica.wait_for(lambda status: bool(status.problem)).problem
    impostor.close()
    assert "certificate verify failed" in problem
    assert [each for each in impostor.heard if each] == []


def test_a_certificate_for_another_host_is_none_of_the_node(certificates: Certificates, tmp_path: Path) -> None:
    """Where one authority signs for all: what is shown has to name the host that is followed."""
    impostor = Impostor(certificates.signer, "127.0.0.2")
    place, files = read_stream_place(f"tcp://127.0.0.2:{impostor.port}"), certificates.node
    settings = StreamSettings(place, files.certificate, files.certificate_key, files.authority)
    with RunningReplica(settings, tmp_path / "replica") as replica:
        assert "IP address mismatch" in replica.wait_for(lambda status: bool(status.problem)).problem
    impostor.close()
    assert [each for each in impostor.heard if each] == []
