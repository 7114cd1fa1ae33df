"""What the transactions of a block may change of who signs the blocks above it: keys of validators, set at once or by
a proposal that is carried out. Whether they are valid is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.names import AccountName

KeyChange = tuple["AccountName", "PublicKey"]


class Acts(NamedTuple):
    """What a block may change."""

    changes: frozenset[KeyChange]
    """Validators with the keys that they are given, by operations and by those that are proposed."""
    approved: frozenset[tuple[AccountName, str]]
    """Proposals, by author and title, that are approved: they may be carried out."""

    def followed_by(self, later: Acts) -> Acts:
        return Acts(self.changes | later.changes, self.approved | later.approved) if any(later) else self


ACTING = (ValidatorUpdate, ProposalCreate, ProposalUpdate)
NO_ACTS = Acts(frozenset(), frozenset())


def acts_of(block: Block) -> Acts:
    operations = [
        operation
        for transaction in block.transactions
        for operation in transaction.operations
        if isinstance(operation, ACTING)
    ]
    if not operations:
        return NO_ACTS
    approved = {(each.author, each.title) for each in operations if isinstance(each, ProposalUpdate)}
    return Acts(frozenset(key_changes(operations)), frozenset(approved))


def key_changes(operations: Iterable[Operation]) -> Iterator[KeyChange]:
    """The keys that operations give to validators, or would if they were carried out."""
    for operation in operations:
        if isinstance(operation, ValidatorUpdate):
            yield operation.owner, operation.block_signing_key
        elif isinstance(operation, ProposalCreate):
            yield from key_changes(each.op for each in operation.proposed_operations)
