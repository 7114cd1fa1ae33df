"""The APIs give the same answers from PostgreSQL as from the history of the node: filters, cursors, pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.postgres.reader import PostgresHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.history.postgres.feeding import feed_all, feeding
from tests.postgres import TEMPLATE, SharedServer
from tests.recorded import ANSWERED
from tests.rpc.api.history.test_history_api import (
    NAME,
    _bounded,
    test_an_account_without_history_has_an_empty_page,
    test_operations_of_blocks_are_looked_for_by_account_and_direction,
    test_pages_hold_the_entries_of_an_account_that_a_filter_lets_pass,
    test_pages_hold_the_operations_of_blocks_that_a_filter_lets_pass,
    test_the_newest_page_has_a_cursor_for_what_will_come,
)
from tests.rpc.api.recorded_past import history_dispatcher
from tests.rpc.api.serving import copy_followed

__all__ = [
    "_bounded",
    "test_an_account_without_history_has_an_empty_page",
    "test_operations_of_blocks_are_looked_for_by_account_and_direction",
    "test_pages_hold_the_entries_of_an_account_that_a_filter_lets_pass",
    "test_pages_hold_the_operations_of_blocks_that_a_filter_lets_pass",
    "test_the_newest_page_has_a_cursor_for_what_will_come",
]


@pytest.fixture(scope="module")
def dispatcher(postgres_server: SharedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    folder, address = tmp_path_factory.mktemp("fed"), postgres_server.database(TEMPLATE)
    copy_followed(NAME, ANSWERED[NAME], folder)
    source = HistorySource(folder, HistorySettings())
    with feeding(address, source) as feeder:
        feed_all(feeder)
    source.close()
    history = PostgresHistory(address, HistorySettings())
    with history_dispatcher(NAME, tmp_path_factory.mktemp(NAME), history) as dispatcher:
        yield dispatcher
    history.close()
    postgres_server.drop(address)
