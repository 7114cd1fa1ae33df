"""Operations that are valid and have no form as text are shown without their fields, and those around them whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.protocol.operations.money.paid_subscriptions import SetPaidSubscription
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import Asset, tokens
from tests.chain.networks import VIZ, Network, started_network
from tests.history.histories import followed, view_of

URL = "https://example.test"
NO_TEXT = (2**63, 0xFF)
"""Symbols: one that does not end, and one with too many decimals."""


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    with started_network(tmp_path) as network:
        yield network


@pytest.mark.parametrize("symbol", NO_TEXT)
def test_a_price_of_an_odd_symbol_hides_nothing_around_it(network: Network, tmp_path: Path, symbol: int) -> None:
    with followed(network.chain, tmp_path) as store:
        number = _block_with(network, symbol)
        with view_of(store, tmp_path) as view:
            of_block = [json.loads(each)["op"] for each in view.operations_of(number)]
            entries = view.range_of(VIZ)
            assert entries is not None
            of_account = view.entries_of(VIZ, entries.first, entries.last)

    assert [name for name, _ in of_block[:3]] == ["transfer", "set_paid_subscription", "transfer"]
    assert of_block[1] == ["set_paid_subscription", {}]
    assert of_block[2][1]["memo"] == "behind it"
    assert sum('"set_paid_subscription",{}' in each for each in of_account) == 1
    assert any("behind it" in each for each in of_account)


def _block_with(network: Network, symbol: int) -> int:
    network.send(
        Transfer(VIZ, VIZ, tokens(1), ""),
        SetPaidSubscription(VIZ, URL, 1, Asset(1_000, symbol), 30),
        Transfer(VIZ, VIZ, tokens(1), "behind it"),
    )
    network.produce()
    return network.chain.head_number


def test_the_history_is_not_told_to_be_damaged(
    network: Network, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with followed(network.chain, tmp_path) as store:
        number = _block_with(network, NO_TEXT[0])
        assert isinstance(store, EmbeddedStore)
        with view_of(store, tmp_path) as view:
            assert len(view.part_of(number, 0, 10)) == len(view.operations_of(number))
    assert "damaged" not in caplog.text
