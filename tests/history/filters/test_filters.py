from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.events import AppliedOperation, BlockApplied
from ledgerd.history.filters.filters import AccountFilter, OperationFilter
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.virtual import Hardfork
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.history.made_blocks import block_on, told

EVENT = told(block_on(NO_BLOCK, 5, [[2, 11], [5]]))
"""Two transfers, each with a virtual operation, a choice of a proxy, and two virtual operations at the end."""


def kept(event: BlockApplied = EVENT, **options: Any) -> list[tuple[str, int]]:
    settings = HistorySettings(**options)
    return [(name_of(type(each.operation)), each.virtual_operation) for each in OperationFilter(settings).kept(event)]


ALL = [
    ("transfer", 0),
    ("receive_award", 1),
    ("account_validator_proxy", 0),
    ("transfer", 0),
    ("receive_award", 1),
    ("validator_reward", 1),
    ("committee_cancel_request", 2),
]


def test_without_options_every_operation_is_recorded() -> None:
    assert kept() == ALL


def test_a_whitelist_keeps_what_it_names() -> None:
    assert kept(whitelist=("transfer_operation",)) == [("transfer", 0)] * 2
    assert kept(whitelist=("transfer",)) == []


def test_a_blacklist_keeps_all_else() -> None:
    assert kept(blacklist=("transfer_operation", "receive_award_operation")) == [ALL[2], *ALL[5:]]


def test_both_lists_together_are_refused() -> None:
    with pytest.raises(OperatorError, match="history-blacklist-ops"):
        kept(whitelist=("transfer_operation",), blacklist=("vote_operation",))


def test_of_the_block_that_a_history_starts_with_only_what_the_block_itself_does_is_kept() -> None:
    assert kept(start_block=4) == ALL
    assert kept(start_block=5) == ALL[5:]
    assert kept(start_block=6) == []


def test_virtual_operations_that_are_skipped_use_up_no_number() -> None:
    last = EVENT.operations[-1]
    hardfork = AppliedOperation(*last[:4], 3, last.timestamp, Hardfork(13))
    executed = EVENT.operations[0]._replace(virtual_operation=2)
    event = EVENT._replace(operations=(*EVENT.operations[:2], executed, *EVENT.operations[2:], hardfork))
    assert kept(event, skip_virtual=True) == [
        ("transfer", 0),
        ("transfer", 1),
        ("account_validator_proxy", 0),
        ("transfer", 0),
        ("hardfork", 1),
    ]


@pytest.mark.parametrize(
    ("ranges", "tracked", "others"),
    [
        ((), ("alice", ""), ()),
        ((("alice", "alice"),), ("alice",), ("alicf", "alic", "bob", "")),
        ((("bob", "bob"), ("alice", "alice")), ("alice", "bob"), ("amy", "carol")),
        ((("alice", "alice"), ("alice", "zzz")), ("alice",), ("bob",)),
    ],
)
def test_accounts_are_tracked_by_pairs_of_their_own_name(
    ranges: tuple[tuple[str, str], ...], tracked: tuple[str, ...], others: tuple[str, ...]
) -> None:
    accounts = AccountFilter(ranges)
    assert [name for name in (*tracked, *others) if accounts.tracks(name)] == list(tracked)


def test_a_range_of_several_names_is_no_range() -> None:
    """The pair with the least `from` that is not below the name decides, and then the words of the names."""
    accounts = AccountFilter((("b", "y"),))
    assert not accounts.tracks("carol")
    assert not accounts.tracks("alice")
    assert accounts.tracks("b")
