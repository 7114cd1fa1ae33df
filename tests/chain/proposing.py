"""Proposals as tests make them: small ones on a title of Alice's, and words for what others agree to."""

from __future__ import annotations

from typing import Any

import msgspec

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import (
    OperationWrapper,
    ProposalCreate,
    ProposalUpdate,
)
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_AUTHOR, Proposal
from tests.chain.ledgers import ALICE, BOB, NOW

TITLE = "title"
DAY = 86_400

NO_CHANGE = ProposalUpdate(ALICE, TITLE, (), (), (), (), (), (), (), (), ())


def pays(sender: AccountName = BOB, amount: int = 10, recipient: AccountName = ALICE) -> Transfer:
    return Transfer(sender, recipient, tokens(amount), "")


def proposal(*operations: Operation, title: str = TITLE, **fields: Any) -> ProposalCreate:
    """Alice's, for a day, to be carried out as soon as all have agreed."""
    made = ProposalCreate(
        ALICE, title, "memo", NOW + DAY, tuple(OperationWrapper(each) for each in operations), None, ()
    )
    return msgspec.structs.replace(made, **fields)


def approval(**fields: Any) -> ProposalUpdate:
    return msgspec.structs.replace(NO_CHANGE, **fields)


def active(*names: AccountName) -> ProposalUpdate:
    return approval(active_approvals_to_add=names)


def find(ledger: Ledger, title: str = TITLE) -> Proposal | None:
    return ledger.store.lookup(PROPOSAL_BY_AUTHOR, ALICE, title)


def stored(ledger: Ledger, title: str = TITLE) -> Proposal:
    return ledger.store.at(PROPOSAL_BY_AUTHOR, ALICE, title)
