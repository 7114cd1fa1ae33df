"""Methods of the generated classes: plain parameters in, records out; and what is no whole answer is refused."""

from __future__ import annotations

import asyncio
import json
from typing import Any, assert_type

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.types.assets import Asset, shares, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.api.apis import Apis
from ledgerd.sdk.api.records.accounts import AccountRecord
from ledgerd.sdk.api.records.chain import GlobalProperties, ScheduleRecord
from ledgerd.sdk.api.records.history import AccountPage, Filter, HistoryEntry, RecordedOperation
from ledgerd.sdk.calling import WrongForm, decoded
from ledgerd.sdk.errors import ClientError
from tests.recorded import recorded_result
from tests.sdk.api.typed_results import NotedCaller

KEY = PublicKey(b"\2" + bytes(32))
HISTORY = json.loads(recorded_result("open-2/account-histories-617", "get_account_history"))
ACCOUNT: dict[str, Any] = json.loads(recorded_result("open-pm/api-2027", "get_accounts"))[0]
OLDER_ACCOUNT: dict[str, Any] = json.loads(recorded_result("open-1/api-2718", "get_accounts"))[0]


def test_a_type_checker_knows_what_each_method_answers() -> None:
    async def ask(apis: Apis) -> None:
        head = assert_type(await apis.database.get_dynamic_global_properties(), GlobalProperties)
        assert_type(head.current_supply, Asset)
        assert_type(head.head_block_number, int)
        assert_type(await apis.database.get_block(head.head_block_number), Block | None)
        (account,) = assert_type(await apis.database.get_accounts(["alice"]), tuple[AccountRecord, ...])
        assert_type(account.name, AccountName)
        assert_type(await apis.validator.get_validator_count(), int)
        assert_type(await apis.history.get_account_operations("alice", Filter(types=("transfer",))), AccountPage)
        await apis.network_broadcast.broadcast_transaction(Transaction(0, 0, 0, (), (), ()))

    head = json.loads(recorded_result("open-pm/api-2027", "get_dynamic_global_properties"))
    page = AccountPage((), None, "")
    caller = NotedCaller(decoded(head, GlobalProperties), None, (decoded(ACCOUNT, AccountRecord),), 7, page, {})
    asyncio.run(ask(Apis(caller)))

    assert caller.asked.method == "broadcast_transaction"
    assert not caller.is_repeatable


@pytest.mark.parametrize(
    "asked",
    [
        lambda apis: apis.database.get_accounts("alice"),
        lambda apis: apis.account_by_key.get_key_references(public_key_text(KEY)),
        lambda apis: apis.account_by_key.get_key_references(KEY),
    ],
)
def test_a_single_text_is_no_list_of_its_letters(asked: Any) -> None:
    with pytest.raises(ClientError, match="a list is wanted, and not the single "):
        asyncio.run(asked(Apis(NotedCaller([]))))


@pytest.mark.parametrize(
    "asked",
    [
        lambda apis: apis.database.get_transaction_hex({}),
        lambda apis: apis.account_by_key.get_key_references([5]),
        lambda apis: apis.database.get_expiring_vesting_delegations("a", []),
    ],
)
def test_a_value_that_is_none_of_its_kind_is_told_as_an_error_of_the_client(asked: Any) -> None:
    with pytest.raises(ClientError, match=r"^\w+ is wanted, and not a value of the type (dict|int|list)$"):
        asyncio.run(asked(Apis(NotedCaller([]))))


@pytest.mark.parametrize(
    ("asked", "params"),
    [
        (lambda apis: apis.database.get_block(5), [5]),
        (lambda apis: apis.database.get_accounts(["alice", "bob"]), [["alice", "bob"]]),
        (lambda apis: apis.database.get_withdraw_routes("alice", "incoming"), ["alice", "incoming"]),
        (lambda apis: apis.database.get_vesting_delegations("alice", ""), ["alice", ""]),
        (lambda apis: apis.database.get_expiring_vesting_delegations("a", 0), ["a", "1970-01-01T00:00:00"]),
        (lambda apis: apis.account_by_key.get_key_references([KEY]), [[public_key_text(KEY)]]),
        (lambda apis: apis.account_by_key.get_key_references(["VIZ6"]), [["VIZ6"]]),
        (lambda apis: apis.operation_history.get_transaction(b"\1" * 20), ["01" * 20]),
        (lambda apis: apis.history.get_operations(), []),
        (lambda apis: apis.history.get_operations(limit=5), [{}, "newest", 5]),
        (
            lambda apis: apis.history.get_operations(Filter(direction="incoming")),
            [{"direction": "incoming"}],
        ),
        (
            lambda apis: apis.prediction_market.list_markets(1, from_=0, limit=10, order="newest"),
            [1, 0, 10, False, "newest"],
        ),
    ],
)
def test_parameters_are_sent_as_nodes_take_them(asked: Any, params: list[object]) -> None:
    caller = NotedCaller(None)
    asyncio.run(asked(Apis(caller)))

    assert list(caller.asked.params) == params
    assert caller.is_repeatable


def test_amounts_names_and_times_are_exact_types() -> None:
    account = decoded(ACCOUNT, AccountRecord)

    assert account.balance == tokens(round(float(ACCOUNT["balance"].split()[0]) * 1000))
    assert account.vesting_shares == shares(round(float(ACCOUNT["vesting_shares"].split()[0]) * 1_000_000))
    assert account.name == ACCOUNT["name"]
    assert codec_of(AccountRecord).to_json(account) == json.dumps(ACCOUNT, separators=(",", ":"), ensure_ascii=False)


def test_an_entry_of_a_history_is_a_pair_in_json() -> None:
    entries = decoded(HISTORY, tuple[HistoryEntry, ...])

    assert [each.sequence for each in entries] == [number for number, _ in HISTORY]
    assert all(isinstance(each.operation, RecordedOperation) for each in entries)


def test_what_an_older_node_does_not_say_is_none_and_stays_away() -> None:
    account = decoded(OLDER_ACCOUNT, AccountRecord)

    assert account.pm_bets_staked is None
    assert json.loads(codec_of(AccountRecord).to_json(account)) == OLDER_ACCOUNT
    schedule = json.loads(recorded_result("open-1/api-2718", "get_validator_schedule"))
    assert decoded(schedule, ScheduleRecord).median_props.pm_min_bet is None


def test_what_a_later_node_says_besides_is_passed_over() -> None:
    later = {"of_tomorrow": [1], **ACCOUNT, "balance_of_tomorrow": {"a": None}}

    assert decoded(later, AccountRecord) == decoded(ACCOUNT, AccountRecord)


@pytest.mark.parametrize("member", sorted(OLDER_ACCOUNT))
def test_an_answer_that_lacks_a_member_is_none(member: str) -> None:
    lacking = {name: value for name, value in ACCOUNT.items() if name != member}

    for odd in (lacking, ACCOUNT | {member: None}):
        with pytest.raises(WrongForm, match=member):
            decoded(odd, AccountRecord)


@pytest.mark.parametrize("odd", [None, 5, "alice", [], [ACCOUNT], {}, {"name": "alice"}, ACCOUNT | {"balance": []}])
def test_an_answer_of_another_form_is_none(odd: object) -> None:
    with pytest.raises(WrongForm):
        decoded(odd, AccountRecord)


@pytest.mark.parametrize("odd", [[], [1], {}, [1, None], [1, []], "x"])
def test_an_entry_that_is_no_pair_is_none(odd: object) -> None:
    with pytest.raises(WrongForm):
        decoded(odd, HistoryEntry)
