"""The rows of the tables, made from the kept facts of blocks."""

from __future__ import annotations

import struct
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, AppliedOperation
from ledgerd.history.columns.typed_columns import amount_of, name_text, typed_columns, vote_of
from ledgerd.history.embedded.kept_facts import KeptBlock, KeptFacts
from ledgerd.history.filters.filters import AccountFilter
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.balances import NO_OPERATION, KeptChange
from ledgerd.projections.accounts.balances import Held, PenaltyChange
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.types.assets import Asset

BLOCKS_A_RANGE = 10_000
"""Blocks that have one `block_range`, by which tables are distributed."""

ENTRY = struct.Struct("<IHHII20s")
"""The beginning of an entry: block, transaction, operation and virtual operation, time, id of the transaction."""

MOST_REPEATED = 32
"""Entries repeat the operation where it touches no more accounts; one of 64 KB may name 16,000, and would need 1 GB."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "blocks": (
        "block_range", "block", "id", "time", "validator", "transactions", "operations", "virtual_operations", "size",
    ),
    "transactions": ("id", "block", "trx_in_block", "time", "operations"),
    "operations": (
        "block_range", "block", "place", "transaction_id", "trx_in_block", "op_in_trx", "virtual_op", "is_virtual",
        "time", "tag", "type", "who", "sender", "recipient", "amount", "symbol", "memo", "body", "is_mended", "packed",
    ),
    "account_operations": ("account", "sequence", "block", "place", "tag", "entry"),
    "missed_slots": ("block_range", "block", "validator", "missed", "time"),
    "balances": (
        "account", "holding", "block", "ordinal", "time", "amount", "change", "symbol", "place", "step",
    ),
    "penalties": ("block_range", "block", "validator", "percent", "time"),
    "votes": ("voter", "block", "place", "time", "kind", "target", "weight"),
}  # fmt: skip

TableRow = tuple[object, ...]


class Touch(NamedTuple):
    """An entry of an account that has no sequence number yet."""

    account: str
    block: int
    place: int
    tag: int
    entry: bytes


class BlockRows:
    """The rows of some blocks, which follow one another."""

    def __init__(self, settings: HistorySettings) -> None:
        self._tracks = AccountFilter(settings.account_ranges).tracks
        self._keeps_accounts = settings.keep_accounts
        self.tables: dict[str, list[TableRow]] = {table: [] for table in COLUMNS}
        self.touches: list[Touch] = []
        self.operations = self.packed_bytes = 0
        self._ordinal = 0
        self.ids: dict[int, bytes] = {}

    def add(self, block: KeptBlock) -> None:
        number, time = block.number, moment(block.header.timestamp)
        self._ordinal = 0
        block_range, operations = number // BLOCKS_A_RANGE, block.operations
        transactions: dict[int, tuple[bytes, datetime]] = {}
        counts: Counter[int] = Counter()
        for place, (applied, packed) in enumerate(operations):
            self._add_operation(place, applied, packed)
            if applied.transaction_in_block != AFTER_TRANSACTIONS:
                transactions[applied.transaction_in_block] = applied.transaction_id, moment(applied.timestamp)
                counts[applied.transaction_in_block] += not applied.virtual_operation
        virtual = sum(applied.virtual_operation > 0 for applied, _ in operations)
        sums = len(transactions), len(operations), virtual, block.size
        name = name_text(block.header.validator)
        self.tables["blocks"].append((block_range, number, block.header.id, time, name, *sums))
        self.tables["transactions"] += [
            (key, number, at, begun, counts[at]) for at, (key, begun) in transactions.items()
        ]
        for validator in dict.fromkeys(block.missed.cycle):
            missed = block.missed.count(validator)
            self.tables["missed_slots"].append((block_range, number, name_text(validator), missed, time))
        self.add_balances(number, block.changes.balances, time)
        self.add_penalties(number, block.changes.penalties, time)
        self.operations += len(operations)
        self.packed_bytes += sum(len(packed) for _, packed in operations)
        self.ids[number] = block.header.id

    def add_balances(self, number: int, changes: list[KeptChange], time: datetime) -> None:
        rows = self.tables["balances"]
        for account, place, step, before, after in changes:
            name, at = name_text(account), None if place == NO_OPERATION else place
            for held, old, new in zip(Held, before, after, strict=True):
                if old != new:
                    amount, symbol = amount_of(Asset(new, held.symbol))
                    change, _ = amount_of(Asset(new - old, held.symbol))
                    self._ordinal += 1
                    what = name, held.name.lower(), number, self._ordinal, time, amount, change, symbol
                    rows.append((*what, at, step or None))

    def add_penalties(self, number: int, changes: list[PenaltyChange], time: datetime) -> None:
        rows = ((number // BLOCKS_A_RANGE, number, name_text(name), percent, time) for name, percent in changes)
        self.tables["penalties"] += rows

    def add_standing(self, facts: KeptFacts) -> None:
        """Add what all accounts and validators had where the changes begin; nothing else is known of that block."""
        begins = facts.balances.begins
        if begins is not None:
            self._ordinal = 0
            time, changes = moment(facts.time_of(begins) or facts.time_of(begins + 1)), facts.balances.at_beginning()
            self.add_balances(begins, changes.balances, time)
            self.add_penalties(begins, changes.penalties, time)

    def _add_operation(self, place: int, applied: AppliedOperation, packed: bytes) -> None:
        identifier, number, transaction, in_transaction, virtual, timestamp, operation = applied
        kind, time = type(operation), moment(timestamp)
        owner = None if transaction == AFTER_TRANSACTIONS else identifier
        numbers = transaction, in_transaction, virtual
        tag = tag_of(kind)
        row = (number // BLOCKS_A_RANGE, number, place, owner, *numbers, virtual > 0, time, tag, name_of(kind))
        self.tables["operations"].append((*row, *typed_columns(operation), packed))
        vote = vote_of(operation)
        if vote is not None:
            self.tables["votes"].append((vote.voter, number, place, time, vote.kind, vote.target, vote.weight))
        if self._keeps_accounts:
            entry, names = ENTRY.pack(number, *numbers, timestamp, identifier), touched(operation)
            if len(names) <= MOST_REPEATED:
                entry += packed
            for name in names:
                if self._tracks(name):
                    self.touches.append(Touch(name_text(name), number, place, tag, entry))

    def number_entries(self, following: dict[str, int]) -> None:
        """Number the entries, each account's from its sequence number in `following` on, which goes on."""
        rows = self.tables["account_operations"]
        for account, *rest in self.touches:
            sequence = following[account]
            following[account] = sequence + 1
            rows.append((account, sequence, *rest))
        self.touches = []


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
