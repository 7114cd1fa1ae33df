"""What is asked of PostgreSQL: a page of an account's history takes one command, and is that of one commit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledgerd.chain.log.histories import EntryPage, SequenceRange
from ledgerd.codec import codec_of
from ledgerd.history.columns.rows import ENTRY
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.postgres.connection import connect
from ledgerd.history.postgres.status import PostgresUnavailable
from ledgerd.history.postgres.view import PostgresView, StoredOperation, texts_of, texts_of_entries
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.paid_subscriptions import SetPaidSubscription
from ledgerd.protocol.types.assets import Asset, tokens
from ledgerd.protocol.types.names import AccountName
from tests.history.postgres.test_feeder import Told, grow, told
from tests.postgres import sql

NAME = AccountName("alice")


class Counting(psycopg.Cursor[Any]):
    """A cursor that counts what it sends."""

    sent = 0

    def execute(self, *given: Any, **named: Any) -> Counting:
        self.sent += 1
        return super().execute(*given, **named)


@pytest.fixture
def fed(postgres: str, tmp_path: Path) -> Iterator[Told]:
    with told(postgres, tmp_path) as made:
        grow(made, 30)
        made.check()
        yield made


@pytest.fixture
def cursor(fed: Told) -> Iterator[Counting]:
    with connect(fed.address, 5, "test") as connection:
        made = Counting(connection)
        made.format = psycopg.pq.Format.BINARY
        yield made


def test_a_page_takes_one_command(cursor: Counting) -> None:
    view = PostgresView(cursor)
    page = view.page_of(NAME, None, 20)
    view.end()
    assert cursor.sent == 1
    assert page is not None
    first, last = page.known.last - 20, page.known.last
    assert page == EntryPage(SequenceRange(0, last), first, view.entries_of(NAME, first, last))


@pytest.mark.parametrize(("last", "more"), [(0, 0), (0, 50), (7, 3), (25, 1000), (None, 0)])
def test_a_page_begins_and_ends_where_it_is_asked_to(cursor: Counting, last: int | None, more: int) -> None:
    view = PostgresView(cursor)
    assert view.page_of(NAME, last, more) == super(PostgresView, view).page_of(NAME, last, more)


def test_an_entry_that_is_not_there_yet_has_no_page(cursor: Counting) -> None:
    view = PostgresView(cursor)
    known = view.range_of(NAME)
    assert known is not None
    assert view.page_of(NAME, known.last + 1, 5) == (known, known.last - 4, [])
    assert view.page_of(AccountName("nobody"), None, 5) is None


def test_a_page_from_which_an_entry_is_missing_is_refused(fed: Told, cursor: Counting) -> None:
    sql(fed.address, "DELETE FROM ledger.account_operations WHERE account = 'alice' AND sequence = 3")
    with pytest.raises(HistoryDamaged, match="entries of alice are missing in PostgreSQL"):
        PostgresView(cursor).page_of(NAME, 5, 5)


def test_an_empty_database_says_so(postgres: str) -> None:
    with connect(postgres, 5, "test") as connection, pytest.raises(PostgresUnavailable, match="nothing has been fed"):
        PostgresView(connection.cursor(binary=True)).page_of(NAME, None, 5)


def test_an_operation_that_cannot_be_printed_is_shown_without_its_fields() -> None:
    offers = [SetPaidSubscription(NAME, "", 1, price, 30) for price in (Asset(1_000, 2**63), tokens(1_000))]
    stored = [
        StoredOperation(7, 0, place, 0, 1_800_000_000, bytes(20), codec_of(Operation).encode(offer))
        for place, offer in enumerate(offers)
    ]
    entries = [ENTRY.pack(*each[:6]) + each.packed for each in stored]
    for texts in (texts_of(stored), texts_of_entries(entries)):
        odd, usual = map(json.loads, texts)
        assert odd == usual | {"op_in_trx": 0, "op": ["set_paid_subscription", {}]}
        assert usual["op"][1]["amount"] == "1.000 VIZ"
