from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ledgerd.node.testnet import plan
from ledgerd.node.testnet.plan import free_ports


def test_ports_differ_and_can_be_listened_on() -> None:
    found = free_ports(20)
    assert len(set(found)) == 20
    for port in found:
        socket.create_server(("127.0.0.1", port)).close()


def test_no_port_is_one_of_outgoing_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(free_ports(50)) < int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    narrow = tmp_path / "range"
    narrow.write_text("11000\t60999\n")
    monkeypatch.setattr(plan, "EPHEMERAL_RANGE", narrow)
    assert all(10_000 <= port < 11_000 for port in free_ports(50))


@pytest.mark.parametrize("text", ["", "none", "1024\t65535\n"])
def test_a_range_that_leaves_no_choice_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    given = tmp_path / "range"
    given.write_text(text)
    monkeypatch.setattr(plan, "EPHEMERAL_RANGE", given)
    assert all(10_000 <= port < 32_768 for port in free_ports(5))


def test_no_port_at_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(_: tuple[str, int]) -> socket.socket:
        raise OSError("address already in use")

    monkeypatch.setattr(socket, "create_server", taken)
    with pytest.raises(OSError, match="no 1 ports of"):
        free_ports(1)
