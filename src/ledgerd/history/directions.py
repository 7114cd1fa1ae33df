"""The direction of an operation for the accounts that it touches: outgoing or incoming."""

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
from ledgerd.protocol.operations.virtual_markets import PmDisputeOpened, PmMarketAccepted

GIVERS: dict[type[Operation], str] = {
    RecoverAccount: "account_to_recover",
    FillVestingWithdraw: "from_account",
    PaidSubscriptionAction: "subscriber",
    AccountSale: "buyer",
    ContentBenefactorReward: "author",
    Bid: "bidder",
    StakeholderReward: "validator",
    PmMarketAccepted: "oracle",
    PmDisputeOpened: "disputer",
}
"""The field of the acting account, for virtual operations, which nobody signs."""

TAKERS: dict[type[Operation], tuple[str, str]] = {
    Transfer: ("recipient", "sender"),
    TransferToVesting: ("recipient", "sender"),
    FillVestingWithdraw: ("to_account", "from_account"),
}
"""The field of the receiving account, and the field that is used when that is empty. It may be the acting account."""


def outgoing(operation: Operation) -> set[AccountName]:
    """The accounts for which an operation is outgoing."""
    giver = GIVERS.get(type(operation))
    if giver is not None:
        return {getattr(operation, giver)}
    asked = operation.authorities()
    return {*asked.active, *asked.master, *asked.regular}


def incoming(operation: Operation) -> set[AccountName]:
    """The accounts for which an operation is incoming: the receiver, and all others that it touches."""
    reached = set(touched(operation)) - outgoing(operation)
    for field in TAKERS.get(type(operation), ()):
        name: AccountName = getattr(operation, field)
        if name:
            reached.add(name)
            break
    return reached


def concerned(operation: Operation, direction: Direction) -> set[AccountName]:
    """The accounts for which an operation has a direction, of those whose history has it."""
    if direction is Direction.INCOMING:
        return incoming(operation)
    names = set(touched(operation))
    return names & outgoing(operation) if direction is Direction.OUTGOING else names
