"""`get_key_history` and `get_key_history_by_key`: pages, limits, order (spec 10, sections 10.2 and 10.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_text
from ledgerd.state.objects.accounts.accounts import KEY_HISTORY, KeyHistory, Role
from tests.chain.ledgers import ALICE, BOB, HEAD, NOW, fresh_ledger, key_of
from tests.rpc.api.serving import answers_of

Ask = Callable[..., Any]

ROLES = (Role.MEMO, Role.ACTIVE, Role.MASTER, Role.REGULAR, Role.ACTIVE)
"""Of Alice's rows, whose ids are 0, 2, 3, 4 and 5; row 1 is Bob's."""

KEY = public_key_text(key_of("one"))


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    ledger = fresh_ledger(tmp_path, hardfork=15)
    rows = [KeyHistory(account=ALICE, role=role, key=key_of("one"), weight=1, weight_threshold=2) for role in ROLES]
    rows[4].key, rows[4].auth_account = NULL_KEY, BOB
    rows.insert(1, KeyHistory(account=BOB, role=Role.MASTER, key=key_of("one")))
    for row in rows:
        row.valid_until_block, row.valid_until_time = HEAD, NOW
        ledger.store.create(KEY_HISTORY, row)
    with answers_of(ledger, tmp_path) as answers:
        yield partial(answers, "database_api")


def ids(answer: dict[str, Any]) -> list[int]:
    return [row["id"] for row in answer["result"]]


def test_the_keys_of_an_account_stand_in_the_order_of_their_ids_whatever_they_were_for(ask: Ask) -> None:
    answer = ask("get_key_history", "alice", 0, 1000)

    assert ids(answer) == [0, 2, 3, 4, 5]
    assert [row["role"] for row in answer["result"]] == ["memo", "active", "master", "regular", "active"]
    assert list(answer["result"][0].items()) == [
        ("id", 0),
        ("account", "alice"),
        ("role", "memo"),
        ("key", KEY),
        ("auth_account", ""),
        ("weight", 1),
        ("weight_threshold", 2),
        ("valid_until_block", HEAD),
        ("valid_until_time", "2027-01-15T08:00:00"),
    ]


def test_a_page_begins_at_an_id_and_the_next_behind_its_last(ask: Ask) -> None:
    assert ids(ask("get_key_history", "alice", 1, 2)) == [2, 3]
    assert ids(ask("get_key_history", "alice", 4, 2)) == [4, 5]
    assert ids(ask("get_key_history", "alice", 6, 2)) == []
    assert ids(ask("get_key_history", "alice", 0, 0)) == []
    assert ids(ask("get_key_history", "nobody", 0, 10)) == []


def test_a_beginning_beyond_signed_numbers_is_below_all_ids(ask: Ask) -> None:
    assert ids(ask("get_key_history", "alice", 2**63 - 1, 10)) == []
    assert ids(ask("get_key_history", "alice", 2**63, 10)) == [0, 2, 3, 4, 5]
    assert ids(ask("get_key_history", "alice", 2**64 - 1, 10)) == [0, 2, 3, 4, 5]


def test_a_key_is_found_in_all_accounts(ask: Ask) -> None:
    assert ids(ask("get_key_history_by_key", KEY, 1000)) == [0, 1, 2, 3, 4]
    assert ids(ask("get_key_history_by_key", KEY, 2)) == [0, 1]
    assert ids(ask("get_key_history_by_key", public_key_text(key_of("other")), 2)) == []


def test_members_that_are_accounts_are_found_under_no_key(ask: Ask) -> None:
    assert ids(ask("get_key_history_by_key", public_key_text(NULL_KEY), 1000)) == [5]


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("get_key_history", ("alice", 0, 1001), "limit <= 1000: limit must be <= 1000"),
        ("get_key_history_by_key", (KEY, 1001), "limit <= 1000: limit must be <= 1000"),
        ("get_key_history", ("alice", 0), "args.args->size() == 3: Expected #s argument(s), was 2"),
        ("get_key_history_by_key", (KEY, 0, 1), "args.args->size() == 2: Expected #s argument(s), was 3"),
    ],
)
def test_limits_and_numbers_of_arguments_are_the_reference_s(
    method: str, arguments: tuple[object, ...], message: str, ask: Ask
) -> None:
    error = ask(method, *arguments)["error"]

    assert (error["code"], error["message"]) == (-32003, f"Assert Exception (10)\n{message}\n")
