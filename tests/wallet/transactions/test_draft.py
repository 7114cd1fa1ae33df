"""Transactions in files: what is written is read, and what was changed is found."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.protocol.blocks.transaction import reference_to
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.draft import Draft, draft_of
from ledgerd.sdk.transactions.signers import Signers
from ledgerd.wallet.errors import ForeignFile, WalletError
from ledgerd.wallet.transactions.draft import load, save, signers_offline
from tests.strategies import values_of

KEY, AGENT = PrivateKey(b"\5" * 32), PrivateKey(b"\6" * 32)
ALICE, BOB = AccountName("alice"), AccountName("bob")
CHAIN = ChainId(b"\1" * 32)
HEAD = BlockId((70_000).to_bytes(4, "big") + bytes(range(16)))
STANDING = ChainStatus(CHAIN, HEAD, 70_000, 1_700_000_000, 69_990)
TRANSFER = Transfer(ALICE, BOB, tokens(1), "")


def told(draft: Draft) -> tuple[Any, Any]:
    """What a node has told of the signers."""
    signers = signers_of(draft)
    return signers.known, signers.agents


def signers_of(draft: Draft) -> Signers:
    return Signers(draft.transaction, lambda _: (authority_of(KEY.public),) * 3, lambda _, __: [AGENT.public])


def test_a_transaction_refers_to_the_head_and_expires_after_it() -> None:
    draft = draft_of(STANDING, 60, [TRANSFER])

    assert (draft.transaction.ref_block_num, draft.transaction.ref_block_prefix) == reference_to(HEAD)
    assert draft.transaction.expiration == STANDING.head_time + 60
    assert (draft.block, draft.chain_id) == (70_000, CHAIN)


@pytest.mark.parametrize(
    ("seconds", "late", "expires"), [(60, 0, 60), (60, 30, 90), (60, -30, 60), (3_600, 30, 3_600), (60, 9_999, 3_600)]
)
def test_it_is_valid_so_long_from_now_if_the_head_is_late(seconds: int, late: int, expires: int) -> None:
    draft = draft_of(STANDING, seconds, [TRANSFER], STANDING.head_time + late)

    assert draft.transaction.expiration == STANDING.head_time + expires


def test_a_file_gives_the_transaction_and_its_signers_back(tmp_path: Path) -> None:
    draft = draft_of(STANDING, 60, [Award(ALICE, BOB, 1, 0, "", ())])
    save(tmp_path / "a.json", draft, *told(draft))
    loaded = load(tmp_path / "a.json")

    assert loaded.draft == draft
    assert signers_offline(loaded).choose([KEY.public]).keys == (KEY.public,)
    assert signers_offline(loaded).choose([AGENT.public]).keys == (AGENT.public,)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600


def test_signatures_are_added_and_known_again(tmp_path: Path) -> None:
    draft = draft_of(STANDING, 60, [TRANSFER])
    save(tmp_path / "a.json", draft, *told(draft))
    signed = draft.with_signatures([sign(KEY, draft.transaction.signature_digest(CHAIN))])
    with pytest.raises(WalletError, match="exists: choose another file"):
        save(tmp_path / "a.json", signed, *told(draft))
    save(tmp_path / "a.json", signed, *told(draft), replaces=True)
    again = load(tmp_path / "a.json").draft

    assert again.signed_by == {KEY.public}
    assert (again.id, again.unsigned) == (draft.id, draft.unsigned)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", "another"),
        ("chain_id", "00"),
        ("chain_id", "zz"),
        ("transaction", "00"),
        ("id", "00" * 20),
        ("reference_block", 70_001),
        ("expiration", "2030-01-01T00:00:00"),
        ("authorities", {"alice": {}}),
        ("more", 1),
    ],
)
def test_a_file_that_contradicts_its_bytes_is_refused(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "a.json"
    draft = draft_of(STANDING, 60, [TRANSFER])
    save(path, draft, *told(draft))
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))

    with pytest.raises(ForeignFile):
        load(path)


def test_another_chain_in_a_file_makes_the_signatures_those_of_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    draft = draft_of(STANDING, 60, [TRANSFER])
    signed = draft.with_signatures([sign(KEY, draft.transaction.signature_digest(CHAIN))])
    save(path, signed, *told(draft))
    path.write_text(json.dumps({**json.loads(path.read_text()), "chain_id": "02" * 32}))

    with suppress(ForeignFile):
        assert KEY.public not in load(path).draft.signed_by


def test_a_file_without_an_account_says_to_choose_the_key(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    draft = draft_of(STANDING, 60, [TRANSFER])
    save(path, draft, *told(draft))
    path.write_text(json.dumps({**json.loads(path.read_text()), "authorities": {}}))

    with pytest.raises(WalletError, match="choose the key with --key"):
        signers_offline(load(path))


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b"{}", b'{"format":"ledgerd transaction 1"}'])
def test_what_is_no_transaction_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "a.json").write_bytes(raw)
    with pytest.raises(ForeignFile, match="is no transaction of this wallet"):
        load(tmp_path / "a.json")
    with pytest.raises(WalletError, match="cannot be read"):
        load(tmp_path / "none.json")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values_of(Operation), min_size=1, max_size=2), st.integers(1, 3_600))
def test_any_transaction_comes_back_from_its_file(tmp_path: Path, operations: list[Any], seconds: int) -> None:
    path = tmp_path / "any.json"
    draft = draft_of(STANDING, seconds, operations)
    path.unlink(missing_ok=True)
    save(path, draft, {}, {})

    assert load(path).draft == draft
