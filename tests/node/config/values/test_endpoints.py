from __future__ import annotations

import pytest

from ledgerd.node.config.values.endpoints import ADDRESS, ENDPOINT, EXEMPT, LISTENING, NTP_SERVER, P2P_LISTENING, PEER
from ledgerd.node.config.values.kind import Argument, OptionKind, WrongValue
from ledgerd.protocol.types.endpoint import Endpoint


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8090", "127.0.0.1", 8090),
        ("localhost:0", "localhost", 0),
        ("node-1.example.org:65535", "node-1.example.org", 65535),
        ("[::1]:8090", "::1", 8090),
    ],
)
def test_an_endpoint_has_a_host_and_a_port(text: str, host: str, port: int) -> None:
    assert ENDPOINT.read(text) == Endpoint(host, port)
    assert ENDPOINT.show(Endpoint(host, port)) == text


@pytest.mark.parametrize("text", ["localhost", "127.0.0.1", "", "[::1]"])
def test_an_endpoint_without_a_port_is_refused_as_the_reference_does(text: str) -> None:
    with pytest.raises(WrongValue) as error:
        ENDPOINT.read(text)

    assert str(error.value) == f'Missing required port number in endpoint string "{text}"'


@pytest.mark.parametrize("port", ["", "65536", "-1", "http", "080801", "1 2"])
def test_a_bad_port_is_refused_as_the_reference_does(port: str) -> None:
    with pytest.raises(WrongValue) as error:
        ENDPOINT.read(f"localhost:{port}")

    assert str(error.value) == f"Bad port: {port}"


@pytest.mark.parametrize("text", [":80", "a b:80", "::1:80", "[localhost]:80", "256.0.0.1:80", "1.2.3:80", "-a:80"])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(WrongValue, match=r"host|IPv4|IPv6"):
        ENDPOINT.read(text)


@pytest.mark.parametrize("kind", [LISTENING, P2P_LISTENING])
def test_peers_are_listened_for_on_numeric_addresses_alone(kind: OptionKind[Endpoint]) -> None:
    assert kind.read("192.0.2.7:2001") == Endpoint("192.0.2.7", 2001)
    with pytest.raises(WrongValue, match="names the host localhost, where only a numeric address"):
        kind.read("localhost:2001")


def test_the_endpoint_of_peers_may_stand_bare_on_the_command_line() -> None:
    assert P2P_LISTENING.argument is Argument.OPTIONAL
    assert P2P_LISTENING.read(P2P_LISTENING.bare) == Endpoint("127.0.0.1", 9876)


def test_a_peer_may_be_named_and_has_a_port_above_zero() -> None:
    assert PEER.read("seed.example.org:1") == Endpoint("seed.example.org", 1)
    with pytest.raises(WrongValue, match="Bad port: 0"):
        PEER.read("seed.example.org:0")


@pytest.mark.parametrize(
    ("text", "port"),
    [("pool.ntp.org", 123), ("pool.ntp.org:1123", 1123), ("pool.ntp.org:", 123), ("pool.ntp.org:x", 123)],
)
def test_a_time_server_without_a_good_port_has_the_usual_one(text: str, port: int) -> None:
    assert NTP_SERVER.read(text) == Endpoint("pool.ntp.org", port)


@pytest.mark.parametrize("text", ["", ":123", "a b"])
def test_a_time_server_has_a_host(text: str) -> None:
    with pytest.raises(WrongValue, match="names no host"):
        NTP_SERVER.read(text)


def test_an_address_is_numeric() -> None:
    assert [ADDRESS.read("192.0.2.7"), ADDRESS.read("::1")] == ["192.0.2.7", "::1"]
    with pytest.raises(WrongValue, match="is not an IP address"):
        ADDRESS.read("example.org")


@pytest.mark.parametrize(
    ("text", "value"),
    [("private", "private"), ("none", "none"), ("10.1.2.3/8", "10.0.0.0/8"), ("fd00::/8", "fd00::/8")],
)
def test_an_exemption_is_a_network_or_a_word(text: str, value: str) -> None:
    assert EXEMPT.read(text) == value


@pytest.mark.parametrize("text", ["", "loopback", "10.0.0.0/40", "seed.example.test"])
def test_what_is_no_network_is_no_exemption(text: str) -> None:
    with pytest.raises(WrongValue):
        EXEMPT.read(text)
