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
    """The values that it wants sampled around operations."""
    tables: frozenset[Table[Any]] = frozenset()
    """The tables of the state of which it wants to know what blocks change."""

    def begin(self, state: View, kept: Store, head: int) -> None:  # noqa: B027 - most need nothing
        """Fill the tables from a state, which is that of block `head`: from there on it follows events."""

    @abstractmethod
    def apply(self, event: BlockApplied, samples: Sequence[Sample], kept: Store) -> None:
        """Write the changes of a block; the samples are those that it wants."""
