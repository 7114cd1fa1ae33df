"""The columns of the files of each table, and how rows of the history become them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import pyarrow as pa

from ledgerd.history.columns.rows import COLUMNS, TableRow

VERSION = 1
"""The version of the schema: it grows with each change that a query could notice."""

DECIMALS = 6
"""The decimals of SHARES: no amount of the chain has more."""

LEFT_OUT = {"block_range", "sequence", "entry"}
"""Columns that only PostgreSQL needs. The order of an account's entries is that of `block` and `place`."""

NUMBER, COUNT, TEXT = pa.int64(), pa.int32(), pa.string()
AMOUNT = pa.decimal128(38, DECIMALS)

TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("block",), NUMBER),
    **dict.fromkeys(
        (
            *("transactions", "operations", "virtual_operations", "size", "trx_in_block", "place", "op_in_trx"),
            *("virtual_op", "tag", "missed", "ordinal", "percent", "weight"),
        ),
        COUNT,
    ),
    **dict.fromkeys(
        (
            *("id", "transaction_id", "validator", "type", "who", "sender", "recipient", "symbol", "memo", "body"),
            *("account", "holding", "step", "voter", "kind", "target"),
        ),
        TEXT,
    ),
    **dict.fromkeys(("amount", "change"), AMOUNT),
    **dict.fromkeys(("is_virtual", "is_mended"), pa.bool_()),
    "time": pa.timestamp("ms"),
    "packed": pa.binary(),
}

SCHEMAS: dict[str, pa.Schema] = {
    table: pa.schema([(name, TYPES[name]) for name in names if name not in LEFT_OUT])
    for table, names in COLUMNS.items()
}


def record_batch(table: str, rows: Sequence[TableRow]) -> pa.RecordBatch:
    names = COLUMNS[table]
    if table == "operations":
        rows = [_with_shown_amount(row) for row in rows]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    arrays = [
        pa.array(_SHOWN[name](values) if name in _SHOWN else values, TYPES[name])
        for name, values in zip(names, columns, strict=True)
        if name not in LEFT_OUT
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMAS[table])


def _hexadecimal(values: Sequence[object]) -> list[str | None]:
    return [value.hex() if isinstance(value, bytes) else None for value in values]


def _without_zone(values: Sequence[object]) -> list[object]:
    """Times are UTC, and said to be so in the documents: a zone would cost readers an extension of DuckDB."""
    return [value.replace(tzinfo=None) for value in values]  # type: ignore[attr-defined]


_SHOWN: dict[str, Callable[[Sequence[object]], Sequence[object]]] = {
    "id": _hexadecimal,
    "transaction_id": _hexadecimal,
    "time": _without_zone,
}

_AMOUNT, _MENDED = COLUMNS["operations"].index("amount"), COLUMNS["operations"].index("is_mended")


def _with_shown_amount(row: TableRow) -> TableRow:
    """A row without its amount where that has a made-up symbol of more decimals than the column."""
    amount = row[_AMOUNT]
    if not isinstance(amount, Decimal):
        return row
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -DECIMALS:
        return row
    return (*row[:_AMOUNT], None, *row[_AMOUNT + 1 : _MENDED], True, *row[_MENDED + 1 :])
