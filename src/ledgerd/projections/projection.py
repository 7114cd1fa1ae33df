"""What a projection is: tables that follow the chain for those who ask, and that no rule reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ledgerd.chain.interface.observer import NO_SAMPLERS, Samplers
from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View


class Projection(ABC):
    """Declares what it wants to know of a block, and writes it to its tables."""

    name: ClassVar[str]
    samplers: Samplers = NO_SAMPLERS
    """What it wants sampled of operations."""
    tables: frozenset[Table[Any]] = frozenset()
    """The tables of the state of which it wants to know what blocks change."""

    def begin(self, state: View, kept: Store, head: int) -> None:  # noqa: B027 - most need nothing
        """Write what a state tells: it is of the block behind which all is told by events from now on."""

    @abstractmethod
    def apply(self, event: BlockApplied, samples: Sequence[Sample], kept: Store) -> None:
        """Write what a block changes; the samples are those that it wants."""
