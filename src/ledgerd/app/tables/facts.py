"""What an application's database knows of itself: whose it is, and which blocks it has applied and can still undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    delete,
    insert,
    inspect,
    select,
    update,
)

from ledgerd.app.declaring.application import OWN_PREFIX
from ledgerd.app.tables.journal import JournaledTable
from ledgerd.app.tables.layout import Layout
from ledgerd.protocol.types.identifiers import BlockId

FORMAT = 1
"""The format of the library's own tables and of the journal."""

OWN = MetaData()
FACTS = Table(
    f"{OWN_PREFIX}_facts", OWN, Column("name", String(32), primary_key=True), Column("fact", Text, nullable=False)
)
BLOCKS = Table(
    f"{OWN_PREFIX}_blocks",
    OWN,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("id", LargeBinary(20), nullable=False),
    Column("settled", BigInteger, nullable=False),
    Column("can_undo", Boolean, nullable=False),
)


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The application and the chain that tables belong to."""

    application: str
    version: int
    declared: dict[str, str]
    tables: tuple[JournaledTable, ...]
    found: Layout = {}
    format: int = FORMAT


class FollowedBlock(NamedTuple):
    """A block whose changes are in the tables."""

    number: int
    id: BlockId
    settled: int
    """The last block of which the application was told, after this one, that it is irreversible."""
    can_undo: bool
    """Whether its changes are in the journal."""


class StoredFacts:
    """Reads and writes facts and blocks in the open transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def exist(self) -> bool:
        return inspect(self._connection).has_table(FACTS.name)

    def make(self) -> None:
        OWN.create_all(self._connection)

    def remove(self) -> None:
        OWN.drop_all(self._connection)

    @property
    def identity(self) -> Identity:
        return msgspec.json.decode(self._read("identity"), type=Identity)

    @identity.setter
    def identity(self, identity: Identity) -> None:
        self._write("identity", msgspec.json.encode(identity).decode())

    @property
    def chain(self) -> str:
        """The id of the chain that is followed; empty before the first block."""
        return self._read("chain")

    @chain.setter
    def chain(self, chain: str) -> None:
        self._write("chain", chain)

    def _read(self, name: str) -> str:
        return str(self._connection.scalar(select(FACTS.c.fact).where(FACTS.c.name == name)) or "")

    def _write(self, name: str, fact: str) -> None:
        self._connection.execute(delete(FACTS).where(FACTS.c.name == name))
        self._connection.execute(insert(FACTS).values(name=name, fact=fact))

    def blocks(self) -> list[FollowedBlock]:
        """The applied blocks that can be undone, and the one before them, which can't: the newest first."""
        rows = self._connection.execute(select(BLOCKS).order_by(BLOCKS.c.number.desc()))
        return [FollowedBlock(each.number, BlockId(bytes(each.id)), each.settled, each.can_undo) for each in rows]

    def add(self, blocks: Sequence[FollowedBlock]) -> None:
        if blocks:
            self._connection.execute(insert(BLOCKS), [each._asdict() for each in blocks])

    def remove_block(self, number: int) -> None:
        self._connection.execute(delete(BLOCKS).where(BLOCKS.c.number == number))

    def keep_from(self, base: int) -> None:
        """Make this the oldest block that is remembered: it can't be undone any more."""
        self._connection.execute(delete(BLOCKS).where(BLOCKS.c.number < base))
        self._connection.execute(update(BLOCKS).where(BLOCKS.c.number == base).values(can_undo=False))
