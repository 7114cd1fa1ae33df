"""Rows with whatever the fields of operations may hold, as columns of the files."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, NO_TRANSACTION, NOTHING_MISSED, AppliedOperation
from ledgerd.codec import codec_of
from ledgerd.history.columns.rows import COLUMNS, BlockRows
from ledgerd.history.columns.typed_columns import typed_columns
from ledgerd.history.embedded.kept_facts import KeptBlock, KeptOperation
from ledgerd.history.parquet.schema import LEFT_OUT, SCHEMAS, record_batch
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.balances import NO_CHANGES
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import AccountName
from tests.history.columns.test_typed_columns import odd_ones_of
from tests.history.made_blocks import block_on
from tests.strategies import printable_values_of

ALICE, BOB = AccountName("alice"), AccountName("bob")


def rows_of(operations: list[Operation]) -> BlockRows:
    """The rows of a block."""
    block = block_on(NO_BLOCK, 1, [])
    kept = [
        KeptOperation(
            AppliedOperation(NO_TRANSACTION, 1, AFTER_TRANSACTIONS, 0, place, block.timestamp, each),
            codec_of(Operation).encode(each),
        )
        for place, each in enumerate(operations, 1)
    ]
    rows = BlockRows(HistorySettings())
    rows.add(KeptBlock(1, block.header, 100, kept, NOTHING_MISSED, NO_CHANGES))
    return rows


def batch_of(operations: list[Operation]) -> pa.RecordBatch:
    """The operations of a block as the part of a file."""
    return record_batch("operations", rows_of(operations).tables["operations"])


@settings(max_examples=2)
@given(st.tuples(*map(printable_values_of, OPERATIONS)))
def test_every_field_of_every_operation_may_hold_anything(usual: tuple[Operation, ...]) -> None:
    odd = [each for operation in usual for each in odd_ones_of(operation)]
    rows = rows_of(odd)
    rows.number_entries(defaultdict(int))
    for table, expected_rows in rows.tables.items():
        assert record_batch(table, expected_rows).num_rows == len(expected_rows)
    assert len(rows.tables["votes"]) > 5
    assert len(rows.tables["account_operations"]) > len(OPERATIONS)
    found = batch_of(odd).to_pylist()
    for row, operation in zip(found, odd, strict=True):
        expected = typed_columns(operation)
        assert row["packed"] == codec_of(Operation).encode(operation)
        assert [row[each] for each in ("who", "sender", "recipient", "symbol", "memo", "body")] == [
            expected.who,
            expected.sender,
            expected.recipient,
            expected.symbol,
            expected.memo,
            expected.body,
        ]
        if row["amount"] is None and expected.amount is not None:
            assert row["is_mended"]
        else:
            assert (row["amount"], row["is_mended"]) == (expected.amount, expected.is_mended)


def test_an_amount_of_more_decimals_than_the_column_is_left_out_and_said_to_be() -> None:
    made_up = Asset(5, 9 | int.from_bytes(b"FINE", "little") << 8)
    ends = [Asset(end, TOKEN_SYMBOL) for end in (-(1 << 63), (1 << 63) - 1)]
    found = batch_of([Transfer(ALICE, BOB, each, "") for each in (made_up, *ends)]).to_pylist()
    assert [(row["amount"], row["is_mended"]) for row in found] == [
        (None, True),
        (Decimal("-9223372036854775.808000"), False),
        (Decimal("9223372036854775.807000"), False),
    ]


def test_every_table_has_its_columns() -> None:
    for table, names in COLUMNS.items():
        assert SCHEMAS[table].names == [name for name in names if name not in LEFT_OUT]
        assert record_batch(table, []).num_rows == 0
