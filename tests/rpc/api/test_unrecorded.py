"""What no recorded request asks for, on a recorded chain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.database_api.globals import PLUGIN_TABLES
from ledgerd.rpc.call.declarations import Answering
from ledgerd.state.objects import TABLES
from tests.recorded import recorded_blocks
from tests.rpc.api.serving import asking, copy_followed, dispatcher_over, recorded_api_answers

HEAD = 200

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    copy_followed("open-1", HEAD, folder)
    return folder


@pytest.fixture
def ask(folder: Path) -> Iterator[Ask]:
    with dispatcher_over("open-1", folder) as dispatcher:
        yield asking(dispatcher)


def test_every_example_of_a_method_is_answered(ask: Ask) -> None:
    for api in APIS:
        for method in api:
            assert method.summary, f"{api.name}.{method.name} says nothing"
            assert method.examples or method.answering is not Answering.AT_ONCE or method.name in NEED_A_TRANSACTION
            for example in method.examples:
                answer = ask(api.name, method.name, *example)
                assert "result" in answer or answer["error"]["code"] in {-32003, -32000}, (method.name, answer)


NEED_A_TRANSACTION = {
    "get_transaction_hex",
    "get_required_signatures",
    "get_potential_signatures",
    "verify_authority",
    "verify_account_authority",
}


def test_names_of_before_answer_as_those_of_today_do(ask: Ask) -> None:
    for now, before, arguments in [
        ("get_active_validators", "get_active_witnesses", ()),
        ("get_validator_schedule", "get_witness_schedule", ()),
        ("get_validators", "get_witnesses", ([0, 1, 99],)),
        ("get_validator_by_account", "get_witness_by_account", ("viz",)),
        ("get_validators_by_vote", "get_witnesses_by_vote", ("", 5)),
        ("get_validators_by_counted_vote", "get_witnesses_by_counted_vote", ("", 5)),
        ("get_validator_count", "get_witness_count", ()),
        ("lookup_validator_accounts", "lookup_witness_accounts", ("", 5)),
    ]:
        answer = ask("validator_api", now, *arguments)
        assert "result" in answer
        assert answer == ask("validator_api", before, *arguments)


def test_validators_begin_at_the_one_that_is_named(ask: Ask) -> None:
    names = [each["owner"] for each in ask("validator_api", "get_validators_by_vote", "", 100)["result"]]
    assert len(names) > 3
    found = ask("validator_api", "get_validators_by_vote", names[2], 2)["result"]
    assert [each["owner"] for each in found] == names[2:4]


def test_validators_that_do_not_exist_are_null(ask: Ask) -> None:
    result = ask("validator_api", "get_validators", [0, 9999, -1])["result"]
    assert [each is None for each in result] == [False, True, True]


def test_the_names_of_validators_stand_in_word_order_from_the_bound_on(ask: Ask) -> None:
    names = ask("validator_api", "lookup_validator_accounts", "", 1000)["result"]
    assert ask("validator_api", "lookup_validator_accounts", names[2], 2)["result"] == names[2:4]


def test_a_withdrawal_route_is_incoming_at_its_other_end(ask: Ask) -> None:
    routes = [
        json.loads(answer)["result"][0]
        for request, answer in recorded_api_answers("open-1", "api-200")
        if request["params"][1] == "get_withdraw_routes" and json.loads(answer)["result"]
    ]
    incoming = ask("database_api", "get_withdraw_routes", routes[0]["to_account"], "incoming")["result"]
    assert routes[0] in incoming
    assert routes[0] not in ask("database_api", "get_withdraw_routes", routes[0]["to_account"], "outgoing")["result"]


def test_an_invite_is_found_by_its_key(ask: Ask) -> None:
    invite = ask("invite_api", "get_invite_by_id", 0)["result"]
    assert ask("invite_api", "get_invite_by_key", invite["invite_key"])["result"] == invite


def test_votes_on_a_request_are_cut_as_the_reference_cuts_them(ask: Ask) -> None:
    number = next(
        request["params"][2][0]
        for request, answer in recorded_api_answers("open-1", "api-200")
        if request["params"][1] == "get_committee_request_votes" and answer.count('"voter"') > 1
    )
    votes = ask("committee_api", "get_committee_request_votes", number)["result"]

    def first(count: int) -> Any:
        return ask("committee_api", "get_committee_request", number, count)["result"]["votes"]

    assert (first(0), first(1), first(-1), first(-5), first(1000)) == ([], votes[:1], votes, votes[:1], votes)


def test_blocks_come_with_their_numbers_up_to_the_last_that_there_is(ask: Ask) -> None:
    found = ask("block_info", "get_blocks_with_info", HEAD - 1, 10)["result"]
    infos = ask("block_info", "get_block_info", HEAD - 1, 3)["result"]
    assert [each["info"] for each in found] == infos[:2]
    assert infos[2]["block_id"] == "0" * 40
    block = codec_of(Block).decode(recorded_blocks("open-1")[HEAD - 2])
    assert found[0]["block"] == json.loads(codec_of(Block).to_json(block))
    assert (infos[0]["block_id"], infos[0]["block_size"]) == (block.id.hex(), len(block.packed))


def test_the_end_of_a_range_of_blocks_is_reckoned_in_32_bits(ask: Ask) -> None:
    assert ask("block_info", "get_block_info", 0xFFFFFFFF, 10)["result"] == []


def test_headers_of_irreversible_blocks_alone_are_shown_as_such(ask: Ask) -> None:
    header = ask("database_api", "get_block_header", 5)["result"]
    assert ask("database_api", "get_irreversible_block_header", 5)["result"] == header
    assert ask("database_api", "get_irreversible_block_header", HEAD + 1)["result"] is None


def test_the_size_of_the_state_is_told_table_by_table(ask: Ask) -> None:
    info = ask("database_api", "get_database_info")["result"]
    assert list(info) == ["total_size", "free_size", "reserved_size", "used_size", "index_list"]
    assert int(info["used_size"]) == int(info["total_size"]) - int(info["free_size"]) > 0
    counts = {each["name"]: each["record_count"] for each in info["index_list"]}
    assert len(counts) == len(TABLES) + len(PLUGIN_TABLES)
    assert counts["graphene::chain::account_object"] == ask("database_api", "get_account_count")["result"]
    assert counts["graphene::plugins::account_by_key::key_lookup_object"] > 0


def test_account_names_that_are_too_long_are_cut(ask: Ask) -> None:
    assert ask("database_api", "lookup_account_names", ["x" * 100])["result"] == [None]
    assert ask("database_api", "get_master_history", "x" * 100)["result"] == []


def test_the_empty_protocol_stands_for_all_custom_operations(ask: Ask) -> None:
    (account,) = ask("database_api", "get_accounts", ["viz"])["result"]
    assert ask("custom_protocol_api", "get_account", "viz", "")["result"] == account


def test_an_account_with_an_odd_name_is_named_in_the_refusal(ask: Ask) -> None:
    error = ask("custom_protocol_api", "get_account", 'no "one"', "V")["error"]
    assert error["message"] == 'Assert Exception (10)\nfalse: Account with name "no "one"" not found.\n'
