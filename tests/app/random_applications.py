"""An application whose operations say themselves which rows they change: what random ones are made of.

Its tables have what is hard to put back: numbered keys, keys of text and of two columns, values of every kind, rows
that are deleted with others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from hypothesis import strategies as some
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    create_engine,
    select,
)

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import ChainStep, FedBlock
from ledgerd.app.tables.databases import url_of
from ledgerd.app.tables.facts import BLOCKS
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.types.identifiers import BlockId, TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.streams.cursor import PlaceInBlock
from ledgerd.sdk.streams.events import HistoryRow

NAMES, NUMBERS = ("ann", "bob", "Ćirilo", "", "x" * 40), (1, 2, 3, 7)

KEEP_THING = """INSERT INTO things (name, owner, body, weight)
VALUES (:name, (SELECT min(id) FROM owners), :body, :weight)
ON CONFLICT (name) DO UPDATE SET weight = excluded.weight, body = NULL"""

PAIR = """INSERT INTO pairs (a, b, note)
SELECT :number, :text, label FROM owners WHERE id < 3 LIMIT 1 ON CONFLICT DO NOTHING"""

STATEMENTS = (
    "INSERT INTO owners (label) VALUES (:text)",
    "INSERT INTO owners (id, label) VALUES (:number, :text) ON CONFLICT (id) DO UPDATE SET label = excluded.label",
    "UPDATE owners SET label = :text WHERE id >= :number",
    "DELETE FROM owners WHERE id = :number",
    "DELETE FROM owners",
    KEEP_THING,
    "UPDATE things SET name = :name WHERE name = :other",
    "UPDATE things SET weight = weight * 3, body = :body",
    "DELETE FROM things WHERE name >= :name",
    PAIR,
    "UPDATE pairs SET a = a + :number, note = :text WHERE b <> :text",
    "DELETE FROM pairs WHERE a > :number",
)
BODIES = (None, b"", b"\x00\xff'", b"abc")
WEIGHTS = (None, 0.1, -0.0, 1e300, float("inf"), 5e-324, 3.0)


def make_application() -> Application:
    application = Application("random")
    application.table("owners", Column("id", Integer, primary_key=True), Column("label", Text))
    application.table(
        "things",
        Column("name", String(60), primary_key=True),
        Column("owner", ForeignKey("owners.id", ondelete="CASCADE")),
        Column("body", LargeBinary),
        Column("weight", Float(53)),
    )
    application.table(
        "pairs", Column("a", Integer, primary_key=True), Column("b", Text, primary_key=True), Column("note", Text)
    )
    application.table("settled", Column("number", Integer, primary_key=True))

    @application.on(Custom)
    def change(step: ChainStep, operation: Custom) -> None:
        for place, values in json.loads(operation.json):
            if place == len(STATEMENTS):
                raise KeyError("this one always fails")
            chosen = dict(zip(("text", "name", "other"), values[:3], strict=True), number=values[3])
            chosen |= {"body": BODIES[values[4]], "weight": WEIGHTS[values[5]]}
            words = STATEMENTS[place]
            step.execute(words, {name: value for name, value in chosen.items() if f":{name}" in words})

    @application.on_irreversible
    def settle(step: ChainStep, number: int) -> None:
        step.execute("DELETE FROM settled")
        step.execute("INSERT INTO settled (number) VALUES (:number)", {"number": number})

    return application


VALUES = some.tuples(
    *[some.sampled_from(NAMES)] * 3,
    some.sampled_from(NUMBERS),
    some.integers(0, len(BODIES) - 1),
    some.integers(0, len(WEIGHTS) - 1),
)
CHANGES = some.lists(some.tuples(some.integers(0, len(STATEMENTS) - 1), VALUES), max_size=6)


def block_behind(previous: BlockId, changes: Sequence[Any], salt: int = 0) -> FedBlock:
    """A block with an operation that makes these changes."""
    number = int.from_bytes(previous[:4], "big") + 1
    body = json.dumps(changes)
    identifier = BlockId(number.to_bytes(4, "big") + sha256(f"{previous.hex()} {salt} {body}".encode()).digest()[:16])
    operation = Custom((), (AccountName("ann"),), "random", body)
    row = HistoryRow(PlaceInBlock(0, 0, 0), TransactionId(identifier), operation)
    return FedBlock(identifier, previous, 1_700_000_000 + 3 * number, "ann", (row,))


def content(address: str, tables: MetaData) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of an application, and where it stands."""
    engine = create_engine(url_of(address))
    with engine.connect() as connection:
        found = {table.name: _rows(connection, table) for table in (*tables.sorted_tables, BLOCKS)}
    engine.dispose()
    return found


def _rows(connection: Connection, table: Any) -> list[tuple[Any, ...]]:
    rows = [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
    return [tuple((type(value).__name__, repr(value)) for value in row) for row in rows]
