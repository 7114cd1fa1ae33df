"""`ledgerd history verify`: each planted difference between the two stores is found, and named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.history.postgres.status import PostgresRefused
from ledgerd.history.postgres.verify import StoreComparison
from ledgerd.history.settings import HistorySettings
from tests.history.postgres.feeding import CHAIN, source_of
from tests.history.postgres.test_feeder import Told, grow, told
from tests.postgres import sql


@pytest.fixture
def fed(postgres: str, tmp_path: Path) -> Iterator[Told]:
    with told(postgres, tmp_path) as made:
        grow(made, 30)
        made.check()
        yield made


def compared(made: Told, chain: bytes = CHAIN) -> StoreComparison:
    source = source_of(made.teller.store, made.teller.folder, made.teller.log.read)
    return StoreComparison(made.address, source, HistorySettings(), chain)


def test_what_was_fed_is_the_same(fed: Told) -> None:
    comparison = compared(fed)
    assert list(comparison.differences()) == []
    assert comparison.head == 30
    assert comparison.compared == sum(map(len, fed.teller.model.blocks.values()))


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("UPDATE ledger.blocks SET validator = 'x' WHERE block = 3", "blocks: a row of block 3 has another validator"),
        ("DELETE FROM ledger.operations WHERE block = 4 AND place = 0", "operations: a row of block 4 has another"),
        (
            "UPDATE ledger.operations SET packed = '\\x00' WHERE block = 9",
            "operations: a row of block 9 has another packed",
        ),
        ("UPDATE ledger.operations SET memo = 'no' WHERE block = 9", "operations: a row of block 9 has another memo"),
        ("UPDATE ledger.operations SET body = '{}' WHERE block = 9", "operations: a row of block 9 has another body"),
        ("DELETE FROM ledger.transactions WHERE block = 25", "transactions: a row of block 25 has another id"),
        (
            "UPDATE ledger.account_operations SET sequence = sequence + 100000 WHERE block = 2",
            "account_operations: a row of block 2 has another sequence",
        ),
        (
            "INSERT INTO ledger.missed_slots VALUES (0, 7, 'x', 1, now())",
            "missed_slots: a row of block 7 should not be",
        ),
        ("DELETE FROM ledger.votes_reversible", "votes: a row of block 27 is missing"),
        ("UPDATE ledger.accounts SET entries = entries + 1 WHERE account = 'bob'", "accounts: bob has"),
    ],
)
def test_each_difference_is_named(fed: Told, planted: str, found: str) -> None:
    sql(fed.address, planted)
    assert any(found in each for each in compared(fed).differences()), list(compared(fed).differences())


def test_another_chain_is_not_compared(fed: Told) -> None:
    with pytest.raises(PostgresRefused, match="another chain"):
        list(compared(fed, b"other").differences())
