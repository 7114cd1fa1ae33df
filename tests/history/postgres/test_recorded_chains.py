"""For every recorded chain, what PostgreSQL answers is what the reference answered, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledgerd.chain.log.histories import HistoryView
from ledgerd.history.postgres.source import HistorySource
from ledgerd.history.postgres.verify import StoreComparison
from ledgerd.history.settings import HistorySettings
from tests.history.postgres.feeding import CHAIN, fed_view, feed_all, feeding
from tests.history.test_recorded_histories import (
    test_every_transaction_is_found_where_it_stands,
    test_the_history_of_every_account_is_the_recorded_one,
    test_the_operations_of_every_block_are_the_recorded_ones,
)
from tests.postgres import DIVIDED, TEMPLATE, SharedServer
from tests.recorded import ANSWERED
from tests.rpc.api.serving import copy_followed

__all__ = [
    "test_every_transaction_is_found_where_it_stands",
    "test_the_history_of_every_account_is_the_recorded_one",
    "test_the_operations_of_every_block_are_the_recorded_ones",
]


@pytest.fixture(scope="module", params=ANSWERED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[TEMPLATE, DIVIDED])
def template(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def view(
    name: str, template: str, postgres_server: SharedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HistoryView]:
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
