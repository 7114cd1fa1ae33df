"""Records of accounts from rows whose ids differ, and authorities of every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given

from ledgerd.codec import codec_of
from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.authority import Authority, authority_of
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.time_text import time_text
from ledgerd.rpc.api.account_record import account_text, print_authority
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from tests.chain.networks import SMALL
from tests.strategies import printable_values_of

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


@given(printable_values_of(Authority), printable_values_of(UInt32))
@example(ONE, 0)
@example(ONE, 1_700_000_000)
@example(Authority(1, {}, {PublicKey(bytes(33)): 2}), 0)
@example(Authority(2, {}, {PublicKey(bytes(33)): 1}), 0)
@example(Authority(1, {BOB: 1}, {}), 0)
def test_authorities_are_printed_as_they_are(changed: Authority, time: int) -> None:
    """One of them beside two usual ones, in each of the three places."""
    for place in range(3):
        master, active, regular = [changed if place == each else OTHER for each in range(3)]
        row = AccountAuthority(account=ALICE, master=master, active=active, regular=regular, last_master_update=time)
        printed = print_authority(codec_of(AccountAuthority).encode(row))
        texts = [codec_of(Authority).to_json(each) for each in (master, active, regular)]
        assert printed[:2] == (
            '"name":"alice"',
            f'"master_authority":{texts[0]},"active_authority":{texts[1]},"regular_authority":{texts[2]}',
        )
        assert printed[2] == f'"last_master_update":"{time_text(time)}"'
