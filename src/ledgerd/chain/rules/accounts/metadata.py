"""Metadata of accounts: one text each (spec 02, section 4.12)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.accounts import ACCOUNT_METADATA, METADATA_BY_ACCOUNT, AccountMetadata


def store_metadata(ledger: Ledger, name: AccountName, text: str) -> None:
    metadata = ledger.store.lookup(METADATA_BY_ACCOUNT, name)
    if metadata is None:
        ledger.store.create(ACCOUNT_METADATA, AccountMetadata(account=name, json_metadata=text))
        return
    with ledger.editing(metadata):
        metadata.json_metadata = text
