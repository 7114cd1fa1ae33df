"""What a state says of the blocks that its log should have: the numbers, the ids, and the bytes that it still keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT, REVERSIBLE_BY_NUMBER
from ledgerd.state.views.view import View

CHAIN_ID = "chain id"
"""The named value of a state that tells which chain it is of."""

LOG_KIND = "block log"
"""The named value of a state that tells which log belongs to it."""

WHOLE, LATEST, IMPORTED = b"whole", b"latest", b"imported"
"""Every block from the first on; the latest ones; the state was imported, and no log was opened with it yet."""


class StateBlocks(NamedTuple):
    """The blocks of a state."""

    irreversible: int
    head: int
    kind: bytes | None
    """Which log belongs to it."""
    kept_from: int
    """The first block whose bytes the state has; 0 where it has none."""
    kept: Callable[[int], bytes | None]
    id_at: Callable[[int], BlockId]
    """The id of a block; zeros for one that the state does not know any more."""

    @classmethod
    def of(cls, store: View) -> StateBlocks:
        now = store.find(DYNAMIC_GLOBAL_PROPERTIES, 0) or DynamicGlobalProperty()
        first = store.first(REVERSIBLE_BY_NUMBER)

        def kept(number: int) -> bytes | None:
            found = store.lookup(REVERSIBLE_BY_NUMBER, number)
            return None if found is None else found.packed

        def id_at(number: int) -> BlockId:
            if number == now.head_block_number:
                return now.head_block_id
            summary = store.find(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT)
            is_its = summary is not None and block_number_of(summary.block_id) == number
            return summary.block_id if summary is not None and is_its else NO_BLOCK

        kept_from = 0 if first is None else first.number
        return cls(now.last_irreversible_block_num, now.head_block_number, store.meta(LOG_KIND), kept_from, kept, id_at)
