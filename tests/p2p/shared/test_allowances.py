"""Budgets by address: kept over connections, and bounded in number."""

from __future__ import annotations

from ledgerd.basics.addresses import Exemption
from ledgerd.p2p.shared.allowances import REMEMBERED, Allowances


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
