"""Under which names and from which pages an endpoint is asked, and what proxies say of their clients."""

from __future__ import annotations

import pytest

from ledgerd.protocol.addresses import is_loopback
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.gate import Gate, Proxies
from ledgerd.rpc.http.responses import Page
from tests.rpc.loopback import play, serving
from tests.rpc.sample_api import service


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8090", "127.0.0.1:1", "127.9.9.9", "[::1]:8090", "Node:1"])
def test_names_of_this_machine_are_known(host: str) -> None:
    assert Gate(("node",), ()).admits({b"host": host.encode()})


OTHER_NAMES = ["", "192.0.2.1", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]", "a, localhost"]


@pytest.mark.parametrize("host", OTHER_NAMES)
def test_other_names_are_not(host: str) -> None:
    assert not Gate(("node",), ()).admits({b"host": host.encode()})


def test_hosts_of_allowed_origins_are_known() -> None:
    gate = Gate((), ("https://Wallet.example:8443/",))

    assert gate.admits({b"host": b"wallet.example", b"origin": b"https://wallet.example:8443"})
    assert not gate.admits({b"host": b"wallet.example", b"origin": b"https://wallet.example"})


def test_a_star_allows_everything() -> None:
    assert Gate((), ("*",)).admits({b"host": b"evil.example", b"origin": b"null"})


def test_only_loopback_and_services_that_do_more_than_read_are_guarded() -> None:
    serves = service(limits=Limits())

    assert serves.gate("127.0.0.5", "localhost") is not None
    assert serves.gate("0.0.0.0", "0.0.0.0") is None  # noqa: S104 - no listener
    serves.is_private = True
    assert serves.gate("0.0.0.0", "0.0.0.0") is not None  # noqa: S104 - as above


def test_a_client_is_the_last_address_that_is_no_trusted_proxy() -> None:
    proxies = Proxies(("10.0.0.0/8", "2001:db8:1::/48"))

    assert proxies.client_of("10.0.0.1", b"8.8.8.8, 192.0.2.1, 10.1.1.1") == "192.0.2.1"
    assert proxies.client_of("10.0.0.1", b"2001:db8:2:3:4::5") == "2001:db8:2:3::/64"
    assert proxies.client_of("10.0.0.1", b"2001:db8:2:3:4::5, 2001:db8:1::1") == "2001:db8:2:3::/64"
    assert proxies.client_of("10.0.0.1", b"nonsense") == "10.0.0.1"
    assert proxies.client_of("10.0.0.1", b"") == "10.0.0.1"
    assert proxies.client_of("192.0.2.9", b"192.0.2.1") == "192.0.2.9"
    assert not Proxies(()).are("10.0.0.1")


def test_what_is_loopback() -> None:
    assert is_loopback("127.0.0.1")
    assert not is_loopback("localhost")


def test_the_origin_of_the_node_itself_may_ask_as_published_clients_name_it() -> None:
    gate = Gate((), ())

    assert gate.admits({b"host": b"127.0.0.1:8091", b"origin": b"http://127.0.0.1:8091"})
    assert not gate.admits({b"host": b"127.0.0.1:8091", b"origin": b"http://127.0.0.1:8090"})
    assert not gate.admits({b"host": b"evil.example", b"origin": b"http://evil.example"})


NAMED, FOREIGN = {"Host": "node.example:9187"}, {"Host": "10.0.0.7:9187", "Origin": "https://evil.example"}


@pytest.mark.parametrize(
    ("address", "path", "headers", "status"),
    [
        ("10.0.0.7", "/metrics", NAMED, 200),
        ("10.0.0.7", "/", NAMED, 403),
        ("10.0.0.7", "/", {"Host": "10.0.0.7:9187"}, 200),
        ("10.0.0.7", "/metrics", FOREIGN, 403),
        ("10.0.0.7", "/", FOREIGN, 403),
        ("127.0.0.1", "/metrics", NAMED, 403),
    ],
)
def test_where_others_can_connect_only_pages_for_programs_are_given_under_any_name(
    address: str, path: str, headers: dict[str, str], status: int
) -> None:
    async def scene() -> str:
        serves = service(limits=Limits())
        serves.is_private, serves.open_paths = True, frozenset((b"/metrics",))
        serves.routes = {each: lambda: Page(b"x") for each in (b"/", b"/metrics")}
        async with serving(serves, gate=serves.gate(address, address)) as server:
            client = await server.connect()
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            await client.say(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
            return (await client.answer())[0]

    assert play(scene).split()[1] == str(status)
