"""Budgets by address: kept over connections, shared by a /64, bounded in number, and what is exempt from them."""

from __future__ import annotations

import pytest

from ledgerd.p2p.shared.allowances import REMEMBERED, Allowances, Exemption, charged_as


def test_an_address_has_one_allowance_over_all_its_connections() -> None:
    allowances = Allowances(Exemption(()))
    assert allowances.of("127.0.0.2", 0) is allowances.of("127.0.0.2", 5)
    assert allowances.of("127.0.0.2", 0) is not allowances.of("127.0.0.3", 0)


def test_an_exempt_address_has_one_for_each_connection() -> None:
    allowances = Allowances(Exemption(("private",)))
    assert allowances.of("127.0.0.2", 0) is not allowances.of("127.0.0.2", 0)
    assert len(allowances) == 0


def test_so_many_addresses_are_kept() -> None:
    allowances = Allowances(Exemption(()))
    first = allowances.of("9.9.9.9", 0)
    for number in range(REMEMBERED + 50):
        allowances.of(f"62.{number >> 8 & 255}.{number & 255}.1", 0)
        if number % 100 == 0:
            assert allowances.of("9.9.9.9", 0) is first, "who speaks is kept"
    assert len(allowances) == REMEMBERED


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
    assert charged_as("62.1.1.1") == "62.1.1.1"
    assert charged_as("a.name") == "a.name"
