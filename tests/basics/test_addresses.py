"""What an address is charged as, and which addresses are exempt from limits on an address."""

from __future__ import annotations

import pytest

from ledgerd.basics.addresses import Exemption, charged_as, is_loopback


@pytest.mark.parametrize(
    ("words", "host", "is_exempt"),
    [
        (("private",), "127.0.0.2", True),
        (("private",), "10.1.2.3", True),
        (("private",), "fd00::1", True),
        (("private",), "62.1.1.1", False),
        (("none",), "127.0.0.2", False),
        (("62.1.0.0/16",), "62.1.1.1", True),
        (("62.1.0.0/16",), "127.0.0.1", False),
        (("private",), "a.name", False),
    ],
)
def test_what_is_exempt(words: tuple[str, ...], host: str, *, is_exempt: bool) -> None:
    assert (host in Exemption(words)) is is_exempt


def test_ipv6_is_charged_by_its_64() -> None:
    assert charged_as("2a01:1:2:3::1") == charged_as("2a01:1:2:3:4:5:6:7")
    assert charged_as("2a01:1:2:3::1") != charged_as("2a01:1:2:4::1")
    assert charged_as("2001:db8::1") == charged_as("2001:db8::ffff:1") == "2001:db8::/64"
    assert charged_as("::ffff:192.0.2.1") == charged_as("192.0.2.1") == "192.0.2.1"
    assert charged_as("62.1.1.1") == "62.1.1.1"
    assert charged_as("a.name") == "a.name"


def test_what_is_loopback() -> None:
    assert is_loopback("127.0.0.1")
    assert not is_loopback("localhost")
