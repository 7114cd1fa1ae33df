"""What PostgreSQL answers of a recorded chain is what the reference answered, byte for byte.

A usual run takes three chains, and one of them with tables that are divided too; `EVERY_CHAIN=1` takes all, both ways.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ledgerd.chain.log.histories import HistoryView
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.verify import StoreComparison
from ledgerd.history.settings import HistorySettings
from tests.history.postgres.feeding import CHAIN, fed_view, feed_all, feeding
from tests.history.test_recorded_histories import (
    test_every_transaction_is_found_where_it_stands,
    test_the_history_of_every_account_is_the_recorded_one,
    test_the_operations_of_every_block_are_the_recorded_ones,
    test_what_is_told_of_blocks_in_part_is_part_of_the_recorded_operations,
)
from tests.postgres import DIVIDED, TEMPLATE, SharedServer
from tests.recorded import ANSWERED
from tests.rpc.api.serving import copy_followed

__all__ = [
    "test_every_transaction_is_found_where_it_stands",
    "test_the_history_of_every_account_is_the_recorded_one",
    "test_the_operations_of_every_block_are_the_recorded_ones",
    "test_what_is_told_of_blocks_in_part_is_part_of_the_recorded_operations",
]


USUAL = [("open-hf0", TEMPLATE), ("open-2", TEMPLATE), ("open-pm2", TEMPLATE), ("open-pm2", DIVIDED)]
EVERY = [(name, template) for name in ANSWERED for template in (TEMPLATE, DIVIDED)]


@pytest.fixture(scope="module", params=EVERY if "EVERY_CHAIN" in os.environ else USUAL, ids="-".join)
def chosen(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A chain, and how the tables are made."""
    name, template = request.param
    return name, template


@pytest.fixture(scope="module")
def name(chosen: tuple[str, str]) -> str:
    return chosen[0]


@pytest.fixture(scope="module")
def view(
    chosen: tuple[str, str], postgres_server: SharedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HistoryView]:
    name, template = chosen
    folder, address = tmp_path_factory.mktemp(name), postgres_server.database(template)
    copy_followed(name, ANSWERED[name], folder)
    source = HistorySource(folder, HistorySettings())
    with feeding(address, source) as feeder:
        feed_all(feeder)
    if template == TEMPLATE:
        comparison = StoreComparison(address, source, HistorySettings(), CHAIN)
        assert list(comparison.differences()) == []
        assert comparison.compared > 100
    source.close()
    with fed_view(address) as view:
        yield view
    postgres_server.drop(address)
