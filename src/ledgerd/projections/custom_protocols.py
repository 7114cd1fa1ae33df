"""How often each account has used a protocol of custom operations, for `custom_protocol_api` (spec 05, section 18)."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables.custom_protocols import CUSTOM_PROTOCOLS, PROTOCOL_BY_LAST_BLOCK, CustomProtocol
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.types.names import AccountName, cut_name
from ledgerd.state.store import Store

PROTOCOLS_KEPT = 10
"""The number of protocols of an account that are remembered by default."""


class CustomProtocols(Projection):
    """Counts custom operations; beyond so many protocols of an account, those used longest ago are forgotten."""

    name = "custom protocols"

    def __init__(self, most: int = PROTOCOLS_KEPT) -> None:
        self._most = most

    def apply(self, event: BlockApplied, _samples: Sequence[Sample], kept: Store) -> None:
        for applied in event.operations:
            operation = applied.operation
            if isinstance(operation, Custom):
                protocol = cut_name(operation.id)
                for account in (*operation.required_active_auths, *operation.required_regular_auths):
                    self._count(kept, event.block.number, account, protocol)

    def _count(self, kept: Store, block: int, account: AccountName, protocol: AccountName) -> None:
        """Count one use; a protocol that is new to the account takes the place of the one that was used longest ago."""
        rows = kept.under(PROTOCOL_BY_LAST_BLOCK, account)
        for place, row in enumerate(rows, start=1):
            if row.custom_protocol_id == protocol:
                with kept.editing(row):
                    row.custom_sequence += 1
                    row.custom_sequence_block_num = block
                return
            if place >= self._most:
                kept.remove(row)
        kept.create(
            CUSTOM_PROTOCOLS,
            CustomProtocol(
                account=account, custom_protocol_id=protocol, custom_sequence=1, custom_sequence_block_num=block
            ),
        )
