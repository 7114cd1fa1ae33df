"""Which operations are recorded, and in the history of which accounts (spec 05, sections 12.1 and 13.1)."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.virtual import Hardfork
from ledgerd.protocol.types.names import text_order, word_order


class OperationFilter:
    """Selects the operations that the options want recorded."""

    def __init__(self, settings: HistorySettings) -> None:
        if settings.whitelist and settings.blacklist:
            raise OperatorError("history-blacklist-ops cannot stand beside history-whitelist-ops: keep one of the two")
        self._start_block = settings.start_block
        self._skip_virtual = settings.skip_virtual
        self._kept = frozenset(kind for kind in OPERATIONS if _is_wanted(kind, settings))
        self._keeps_all = not settings.start_block and not settings.skip_virtual and len(self._kept) == len(OPERATIONS)

    def kept(self, event: BlockApplied) -> list[AppliedOperation]:
        if self._keeps_all:
            return list(event.operations)
        reported = _without_virtual(event) if self._skip_virtual else iter(event.operations)
        return [each for each in reported if type(each.operation) in self._kept and self._has_begun(each, event)]

    def _has_begun(self, applied: AppliedOperation, event: BlockApplied) -> bool:
        """Whether the history has begun. While a block is applied the head has not moved, so its operations count for
        the block before (section 12.1, quirk).
        """
        is_late = applied.timestamp == event.block.timestamp
        return self._start_block <= (applied.block if is_late else applied.block - 1)


def _is_wanted(kind: type[Operation], settings: HistorySettings) -> bool:
    name = f"{name_of(kind)}_operation"
    return name in settings.whitelist if settings.whitelist else name not in settings.blacklist


def _without_virtual(event: BlockApplied) -> Iterator[AppliedOperation]:
    """The operations under `skip-virtual-ops`: as in the reference, omitted ones are not counted either."""
    place, left_out = -1, 0
    for applied in event.operations:
        if applied.transaction_in_block != place:
            place, left_out = applied.transaction_in_block, 0
        if applied.operation.VIRTUAL and not isinstance(applied.operation, Hardfork):
            left_out += 1
        elif applied.virtual_operation:
            yield applied._replace(virtual_operation=applied.virtual_operation - left_out)
        else:
            yield applied


class AccountFilter:
    """The accounts that are tracked."""

    def __init__(self, ranges: tuple[tuple[str, str], ...]) -> None:
        first_given: dict[str, str] = {}
        for first, last in ranges:
            first_given.setdefault(first, last)
        self._ranges = sorted(first_given.items(), key=lambda pair: text_order(pair[0]))

    def tracks(self, name: str) -> bool:
        """Whether a name lies in one of the ranges. As in the reference, the comparison mixes two orders (section 13.1,
        quirk).
        """
        if not self._ranges:
            return True
        place = text_order(name)
        for first, last in self._ranges:
            if text_order(first) >= place:
                return word_order(first) <= word_order(name) <= word_order(last)
        return False
