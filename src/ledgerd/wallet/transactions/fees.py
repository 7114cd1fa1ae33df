"""What an operation costs besides what it says itself: fees that validators have voted on, as a node tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.account_market import SetAccountPrice, SetSubaccountPrice, TargetAccountSale
from ledgerd.protocol.operations.committee import CommitteeWorkerCreateRequest
from ledgerd.protocol.operations.oracles import PmOracleRegister
from ledgerd.protocol.operations.paid_subscriptions import SetPaidSubscription
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.printable import shown_text

ONCE = "the first time"

FEES: dict[type[Operation], tuple[str, str]] = {
    CommitteeWorkerCreateRequest: ("committee_create_request_fee", ""),
    SetPaidSubscription: ("create_paid_subscription_fee", ONCE),
    SetAccountPrice: ("account_on_sale_fee", ONCE),
    TargetAccountSale: ("account_on_sale_fee", ONCE),
    SetSubaccountPrice: ("subaccount_on_sale_fee", ONCE),
    ValidatorUpdate: ("validator_declaration_fee", ONCE),
    PmOracleRegister: ("pm_oracle_registration_fee", ""),
}
"""By operation, the property that is its fee, and when it is paid."""


def fees_of(operations: tuple[Operation, ...], properties: dict[str, Any]) -> Iterator[str]:
    """The fees in words."""
    for operation in operations:
        found = FEES.get(type(operation))
        if found is not None and found[0] in properties:
            amount, when = shown_text(str(properties[found[0]])), found[1]
            yield f"{amount}{f' ({when})' if when else ''}: {found[0]}"
