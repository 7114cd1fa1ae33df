"""Records of accounts from rows whose ids differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.shared.account_record import account_text
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from tests.chain.networks import SMALL

ONE, OTHER = authority_of(PublicKey(b"\2" + bytes(32))), authority_of(PublicKey(b"\3" * 33))
ALICE, BOB = AccountName("alice"), AccountName("bob")


def text_in(store: Store, name: AccountName) -> dict[str, Any]:
    text = account_text(store, name)
    assert text is not None
    found: dict[str, Any] = json.loads(text)
    return found


def test_rows_of_other_ids_are_found_by_name(tmp_path: Path) -> None:
    """As a snapshot may have them, and as none of ours has."""
    with Store.open(tmp_path, STORED_TABLES, space=SMALL) as store:
        for name in (ALICE, BOB):
            store.create(ACCOUNTS, Account(name=name))
        for name, authority in ((BOB, OTHER), (ALICE, ONE)):
            store.create(ACCOUNT_AUTHORITIES, AccountAuthority(account=name, master=authority, active=authority))
            store.create(ACCOUNT_METADATA, AccountMetadata(account=name, json_metadata=name))
        for name, authority in ((BOB, OTHER), (ALICE, ONE)):
            found = text_in(store, name)
            assert found["name"] == found["json_metadata"] == name
            assert found["master_authority"] == json.loads(codec_of(Authority).to_json(authority))
