"""What an operation is to the accounts that it touches: something that they do, or something that reaches them."""

from __future__ import annotations

from ledgerd.chain.log.histories import Direction
from ledgerd.history.touched import touched
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.recovery import RecoverAccount
from ledgerd.protocol.operations.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.virtual import (
    AccountSale,
    Bid,
    ContentBenefactorReward,
    FillVestingWithdraw,
    PaidSubscriptionAction,
    StakeholderReward,
)

GIVERS: dict[type[Operation], str] = {
    RecoverAccount: "account_to_recover",
    FillVestingWithdraw: "from_account",
    PaidSubscriptionAction: "subscriber",
    AccountSale: "buyer",
    ContentBenefactorReward: "author",
    Bid: "bidder",
    StakeholderReward: "validator",
}
"""Whose doing it is where no name stands among the authorities: nobody signs what the chain does by itself."""

TAKERS: dict[type[Operation], tuple[str, str]] = {
    Transfer: ("recipient", "sender"),
    TransferToVesting: ("recipient", "sender"),
    FillVestingWithdraw: ("to_account", "from_account"),
}
"""Whom it reaches, though it may be the one who does it; and who that is when the name is empty."""


def outgoing(operation: Operation) -> set[AccountName]:
    """The accounts whose doing an operation is."""
    giver = GIVERS.get(type(operation))
    if giver is not None:
        return {getattr(operation, giver)}
    asked = operation.authorities()
    return {*asked.active, *asked.master, *asked.regular}


def incoming(operation: Operation) -> set[AccountName]:
    """The accounts that an operation reaches: all others that it touches."""
    reached = set(touched(operation)) - outgoing(operation)
    for field in TAKERS.get(type(operation), ()):
        name: AccountName = getattr(operation, field)
        if name:
            reached.add(name)
            break
    return reached


def concerned(operation: Operation, direction: Direction) -> set[AccountName]:
    """The accounts to which an operation has a direction, of those in whose history it stands."""
    if direction is Direction.INCOMING:
        return incoming(operation)
    names = set(touched(operation))
    return names & outgoing(operation) if direction is Direction.OUTGOING else names
