"""How often each account has used a protocol of custom operations, for `custom_protocol_api` (spec 05, section 18)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ledgerd.chain.ledger.ledger import Followers, Ledger
from ledgerd.protocol.names import AccountName, cut_name
from ledgerd.protocol.operations.custom import Custom
from ledgerd.state.objects.custom_protocols import CUSTOM_PROTOCOLS, PROTOCOL_BY_LAST_BLOCK, CustomProtocol

PROTOCOLS_KEPT = 10
"""How many protocols of an account are remembered unless the operator wants more or fewer."""


def custom_followers(kept: int = PROTOCOLS_KEPT) -> Followers:
    """Count custom operations; beyond so many protocols of an account, those used longest ago are forgotten."""

    @contextmanager
    def follow(ledger: Ledger, operation: Custom) -> Iterator[None]:
        yield
        protocol = cut_name(operation.id)
        for account in (*operation.required_active_auths, *operation.required_regular_auths):
            _count(ledger, account, protocol, kept)

    return {Custom: follow}


def _count(ledger: Ledger, account: AccountName, protocol: AccountName, kept: int) -> None:
    """Count one use; a protocol that is new to the account takes the place of the one that was used longest ago."""
    block = ledger.head_number + 1
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
