"""Every operation has its columns, whatever is in its texts and numbers; and its bytes are stored as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, NO_TRANSACTION, AppliedOperation, BlockApplied
from ledgerd.codec import codec_of, kind_of, record_kind
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.numbers import Int64
from ledgerd.history.columns.typed_columns import amount_of, typed_columns, vote_of
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.content import Vote
from ledgerd.protocol.operations.money.committee import CommitteeVoteRequest
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import AccountValidatorProxy, AccountValidatorVote
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import AccountName
from tests.history.made_blocks import block_on
from tests.history.postgres.test_feeder import Told, told
from tests.postgres import sql
from tests.strategies import printable_values_of

ALICE, BOB = AccountName("alice"), AccountName("bob")
ODD_TEXTS = (
    "",
    "\0",
    "a\0b",
    "\udcff\udc80",
    "\ufffd",
    "\\u0000\0",
    "'; DROP TABLE ledger.operations; --",
    "ё" * 30_000,
)
ENDS = (-(1 << 63), (1 << 63) - 1)


def odd_ones_of(usual: Operation) -> Iterator[Operation]:
    """An operation with each odd value in each of its texts, amounts and large numbers."""
    yield usual
    values: dict[Kind, tuple[object, ...]] = {
        kind_of(str): ODD_TEXTS,
        kind_of(Int64): ENDS,
        kind_of(Asset): tuple(Asset(end, TOKEN_SYMBOL) for end in ENDS),
    }
    for field in record_kind(type(usual)).fields:
        for value in values.get(field.kind, ()):
            yield msgspec.structs.replace(usual, **{field.attribute: value})


def put(made: Told, operations: list[Operation]) -> None:
    """A block after whose transactions these have happened."""
    teller = made.teller
    number = len(teller.trunk) + 1
    block = block_on(teller.trunk[-1].id if teller.trunk else NO_BLOCK, number, [])
    at = (NO_TRANSACTION, number, AFTER_TRANSACTIONS, 0)
    happened = tuple(
        AppliedOperation(*at, virtual, block.timestamp, each) for virtual, each in enumerate(operations, 1)
    )
    event = BlockApplied(block, happened, average_block_size=0, slot=number, irreversible=0)
    teller.trunk.append(block)
    teller.happened.append(event)
    teller.model.take(event)


@settings(max_examples=1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(usual=st.tuples(*map(printable_values_of, OPERATIONS)))
def test_every_field_of_every_operation_may_hold_anything(
    postgres: str, tmp_path_factory: pytest.TempPathFactory, usual: tuple[Operation, ...]
) -> None:
    odd = [each for operation in usual for each in odd_ones_of(operation)]
    sql(postgres, "TRUNCATE ledger.feed")
    with told(postgres, tmp_path_factory.mktemp("odd")) as made:
        put(made, odd)
        made.teller.advance(0)
        made.check()
    found = sql(postgres, "SELECT packed, who, memo, is_mended FROM ledger.operations ORDER BY place")
    assert [row[0] for row in found] == [codec_of(Operation).encode(each) for each in odd]
    assert sum(bool(row[3]) for row in found) > 50


def test_texts_say_that_they_were_mended(postgres: str, tmp_path: Path) -> None:
    memos = ("fine", "a\0b", "\udcff")
    with told(postgres, tmp_path) as made:
        put(made, [Transfer(ALICE, BOB, tokens(1), memo) for memo in memos])
        made.check()
    wanted = "SELECT memo, body ->> 'memo', is_mended FROM ledger.operations_reversible ORDER BY place"
    assert sql(postgres, wanted) == [
        ("fine", "fine", False),
        ("a\ufffdb", "a\ufffdb", True),
        ("\ufffd", "\ufffd", True),
    ]


def test_who_acts_and_what_goes_whereto() -> None:
    sent = typed_columns(Transfer(ALICE, BOB, tokens(1_500), "hello"))
    assert (sent.who, sent.sender, sent.recipient, str(sent.amount), sent.symbol, sent.memo) == (
        "alice",
        "alice",
        "bob",
        "1.500",
        "VIZ",
        "hello",
    )
    earned = typed_columns(ValidatorReward(ALICE, shares(7)))
    assert (earned.who, earned.sender, earned.recipient, str(earned.amount), earned.symbol) == (
        None,
        None,
        "alice",
        "0.000007",
        "SHARES",
    )


@pytest.mark.parametrize("amount", [*ENDS, -1_500, -1, 0, 999])
def test_amounts_are_exact(amount: int) -> None:
    found, symbol = amount_of(Asset(amount, TOKEN_SYMBOL))
    assert int(found * 1000) == amount
    assert symbol == "VIZ"


def test_votes_of_every_kind_are_told_apart() -> None:
    votes: list[tuple[Operation, Any]] = [
        (Vote(ALICE, BOB, "text", -100), ("alice", "content", "bob/text", -100)),
        (AccountValidatorVote(ALICE, BOB, True), ("alice", "validator", "bob", 1)),
        (AccountValidatorProxy(ALICE, AccountName("")), ("alice", "proxy", "", 0)),
        (CommitteeVoteRequest(ALICE, 5, 1_000), ("alice", "committee", "5", 1_000)),
        (Transfer(ALICE, BOB, tokens(1), ""), None),
    ]
    for operation, expected in votes:
        assert vote_of(operation) == expected
