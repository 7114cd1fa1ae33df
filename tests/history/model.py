"""A history as plain lists: what the embedded one must be the same as, whatever happens to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied, BlocksUndone, Event
from ledgerd.chain.log.histories import HistoryView, RecordedOperation
from ledgerd.history.filters.filters import AccountFilter, OperationFilter
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.types.names import AccountName
from tests.history.histories import whole_history


class Entry(NamedTuple):
    sequence: int
    block: int
    text: str


def text_of(applied: AppliedOperation) -> str:
    return RecordedOperation(*applied).text


def in_order(applied: AppliedOperation) -> tuple[int, int, int]:
    return applied[2:5]


class Model:
    """The operations of each block, and the entries of each account, in lists."""

    def __init__(self, settings: HistorySettings | None = None) -> None:
        self.settings = settings or HistorySettings()
        self.blocks: dict[int, list[AppliedOperation]] = {}
        self.accounts: dict[str, list[Entry]] = {}
        self.seen: set[str] = set()
        """Every account that was ever touched."""
        self.purged_at = 0

    def take(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self._apply(event)
        elif isinstance(event, BlocksUndone):
            self.forget(lambda block: block > event.head_number)

    def _apply(self, event: BlockApplied) -> None:
        number = event.block.number
        self.blocks[number] = OperationFilter(self.settings).kept(event)
        tracks = AccountFilter(self.settings.account_ranges).tracks
        for applied in self.blocks[number]:
            for name in touched(applied.operation):
                self.seen.add(name)
                if self.settings.keep_accounts and tracks(name):
                    entries = self.accounts.setdefault(name, [])
                    entries.append(Entry(entries[-1].sequence + 1 if entries else 0, number, text_of(applied)))
        if number - self.purged_at >= self.settings.purge_interval:
            self.purged_at = number
            self._purge(number)

    def _purge(self, head: int) -> None:
        """Spec 05, sections 12.5 and 13.3."""
        keep, interval = head - self.settings.count_blocks, self.settings.purge_interval
        if keep <= 0:
            return
        first = min((number for number, operations in self.blocks.items() if operations), default=0)
        first_entry = min((entries[0].block for entries in self.accounts.values()), default=0)
        ceiling, need = min(keep, first + interval), min(keep, first_entry + interval)
        self.blocks = {number: each for number, each in self.blocks.items() if number > ceiling}
        self._keep_entries(lambda entry: entry.block > need)

    def forget(self, is_gone: Callable[[int], bool]) -> None:
        """Forget the blocks that are taken back."""
        self.blocks = {number: each for number, each in self.blocks.items() if not is_gone(number)}
        self._keep_entries(lambda entry: not is_gone(entry.block))

    def _keep_entries(self, is_kept: Callable[[Entry], bool]) -> None:
        kept = {name: [entry for entry in entries if is_kept(entry)] for name, entries in self.accounts.items()}
        self.accounts = {name: entries for name, entries in kept.items() if entries}


def assert_same(view: HistoryView, model: Model, head: int, first: int = 1) -> None:
    """A history is what the model is, from one block to another, and for every account."""
    assert view.head_number == head
    for number in range(first, head + 2):
        expected = sorted(model.blocks.get(number, ()), key=in_order)
        assert view.operations_of(number) == [text_of(each) for each in expected], number
        virtual = [text_of(each) for each in expected if each.virtual_operation]
        assert view.operations_of(number, only_virtual=True) == virtual, number
        kinds = Counter((tag_of(type(each.operation)), each.virtual_operation > 0) for each in expected)
        assert {(tag, is_virtual): count for tag, is_virtual, count in view.kinds_of(number)} == kinds, number
    for name in model.seen:
        expected_entries = [(entry.sequence, entry.text) for entry in model.accounts.get(name, ())]
        assert whole_history(view, name) == expected_entries, name
        if expected_entries:
            last = view.range_of(AccountName(name))
            assert last == (expected_entries[0][0], expected_entries[-1][0])
