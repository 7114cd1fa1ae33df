"""Worlds in which some nodes have begun with a snapshot: what can be compared there, of the states at one head."""

from __future__ import annotations

from copy import deepcopy

from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.state import Entity
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, KNOWN_TRANSACTIONS
from tests.sim.invariants import Broken, Invariants
from tests.sim.node import Node

KNOWN_BY_SOME = (KNOWN_TRANSACTIONS, BLOCK_SUMMARIES)
"""What is forgotten by and by, and is not in a snapshot."""


NOT_IN_A_SNAPSHOT = ("validators_vote_weight", "receiver_awards", "benefactor_awards")
"""Of an account (spec 11, section 8.1)."""


def fields_of(entity: Entity) -> tuple[object, ...]:
    fields = type(entity).__struct_fields__
    return tuple(deepcopy(getattr(entity, name)) for name in fields if name not in NOT_IN_A_SNAPSHOT)


class SameRecords(Invariants):
    """Of nodes that have begun in different ways: those with a snapshot count some ids of their own.

    To them all that was in it is irreversible; so they are compared when it is that to everybody.
    """

    def __init__(self, begun: int) -> None:
        super().__init__()
        self.begun = begun
        """The head of the latest snapshot that a node has begun with."""
        self._records: dict[BlockId, dict[str, list[tuple[object, ...]]]] = {}

    def check_state(self, node: Node) -> None:
        chain, store = node.chain, node.chain.parts.store
        if chain.irreversible <= self.begun:
            return
        tables = [each for each in TABLES if each not in KNOWN_BY_SOME]
        with chain.parts.pending.set_aside(0):
            ours = {table.title: [fields_of(each) for each in store.scan(table)] for table in tables}
        known = self._records.setdefault(chain.head_id, ours)
        self.compared += 1
        different = [name for name, records in ours.items() if records != known[name]]
        if different:
            raise Broken(f"{node.name} has other records at block {chain.head_number}: {', '.join(different)}")
