"""How often each account has used a protocol of custom operations, for `custom_protocol_api` (spec 05, section 18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledgerd.chain.ledger.ledger import Projection, Sample
from ledgerd.protocol.names import AccountName, cut_name
from ledgerd.protocol.operations.custom import Custom
from ledgerd.state.objects.custom_protocols import CUSTOM_PROTOCOLS, PROTOCOL_BY_LAST_BLOCK, CustomProtocol

if TYPE_CHECKING:
    from ledgerd.chain.events import AppliedOperation
    from ledgerd.chain.ledger.ledger import Ledger

PROTOCOLS_KEPT = 10
"""How many protocols of an account are remembered unless the operator wants more or fewer."""


class CustomProtocols(Projection):
    """Counts custom operations; beyond so many protocols of an account, those used longest ago are forgotten."""

    def __init__(self, kept: int = PROTOCOLS_KEPT) -> None:
        self._kept = kept

    def write(self, ledger: Ledger, operations: Sequence[AppliedOperation], _samples: Sequence[Sample]) -> None:
        for applied in operations:
            operation = applied.operation
            if isinstance(operation, Custom):
                protocol = cut_name(operation.id)
                for account in (*operation.required_active_auths, *operation.required_regular_auths):
                    _count(ledger, account, protocol, self._kept)


def _count(ledger: Ledger, account: AccountName, protocol: AccountName, kept: int) -> None:
    """Count one use; a protocol that is new to the account takes the place of the one that was used longest ago."""
    block = ledger.head_number
    rows = ledger.store.scan(PROTOCOL_BY_LAST_BLOCK, lower=(account,), upper=(account,))
    for place, row in enumerate(rows, start=1):
        if row.custom_protocol_id == protocol:
            with ledger.editing(row):
                row.custom_sequence += 1
                row.custom_sequence_block_num = block
            return
        if place >= kept:
            ledger.store.remove(row)
    ledger.store.create(
        CUSTOM_PROTOCOLS,
        CustomProtocol(
            account=account, custom_protocol_id=protocol, custom_sequence=1, custom_sequence_block_num=block
        ),
    )
