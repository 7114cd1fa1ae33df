"""Operations that touch very many accounts, whose bytes are not repeated for each of them in PostgreSQL."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from ledgerd.chain.log.histories import Wanted
from ledgerd.codec import codec_of
from ledgerd.history.columns.rows import ENTRY, MOST_REPEATED
from ledgerd.history.postgres import feeder as feeders
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.types.names import AccountName
from tests.history.columns.test_typed_columns import put
from tests.history.postgres.feeding import fed_view, feed_all
from tests.history.postgres.test_feeder import told
from tests.history.postgres.test_verify import compared
from tests.postgres import sql

SIZES = "SELECT coalesce(sum(octet_length(entry)), 0)::int FROM ledger.account_operations{}"


def custom(accounts: int) -> Custom:
    """An operation that so many accounts sign, and of 50 KB."""
    names = tuple(AccountName(f"a{number:03}") for number in range(accounts))
    return Custom(names, (), "test", '"' + 50_000 * "x" + '"')


def test_an_operation_of_many_accounts_takes_the_room_of_a_few(postgres: str, tmp_path: Path) -> None:
    with told(postgres, tmp_path) as made:
        put(made, [custom(60)])
        made.check()
        assert sql(postgres, SIZES.format("_reversible")) == [(60 * ENTRY.size,)]
        made.teller.advance(0)
        made.check()
        assert sql(postgres, SIZES.format("")) == [(60 * ENTRY.size,)]
        assert list(compared(made).differences()) == []


@pytest.mark.parametrize(("bound", "most"), [("MOST_BYTES", 100_000), ("MOST_ROWS", 3)])
def test_of_large_operations_and_of_many_accounts_few_are_fed_at_once(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    with told(postgres, tmp_path) as made:
        for _ in range(6):
            put(made, [custom(1)])
        made.teller.advance(0)
        made.teller.commit()
        monkeypatch.setattr(feeders, bound, most)
        begun_and_indexed = 2
        assert feed_all(made.feeder) == begun_and_indexed + 3
        made.check()
        assert list(compared(made).differences()) == []


@pytest.mark.parametrize("accounts", [1, MOST_REPEATED, MOST_REPEATED + 1])
def test_it_is_answered_as_any_other(postgres: str, tmp_path: Path, accounts: int) -> None:
    made_of = custom(accounts)
    with told(postgres, tmp_path) as made:
        for kept in (2, 0):  # reversible ones, then all of them irreversible
            put(made, [made_of, made_of])
            made.teller.advance(kept)
            made.check()
        with fed_view(postgres) as view:
            for first, last in pairwise((0, 2, 3)):
                assert len(view.entries_of(AccountName("a000"), first, last)) == last - first + 1
            found = view.find_entries(AccountName("a000"), 0, 3, Wanted(tags=frozenset({tag_of(Custom)})))
        assert [number for number, _ in found] == [0, 1, 2, 3]


def test_what_an_earlier_version_has_repeated_is_no_difference(postgres: str, tmp_path: Path) -> None:
    packed = codec_of(Operation).encode(custom(60))
    with told(postgres, tmp_path) as made:
        put(made, [custom(60)])
        made.teller.advance(0)
        made.check()
        sql(postgres, f"UPDATE ledger.account_operations SET entry = entry || '\\x{packed.hex()}'")
        assert list(compared(made).differences()) == []
        made.check()
        sql(postgres, "UPDATE ledger.account_operations SET entry = '\\x01' || entry WHERE account = 'a000'")
        assert list(compared(made).differences()) != []
