"""Every odd call of a method gets the error that was recorded, or the answer, where it was one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.errors import error_object
from tests.additions import answer_with_additions
from tests.chain.replays import open_replayed
from tests.chain.test_probes import refusal_of
from tests.recorded import ALL_CHAINS, recorded_probe, recorded_result
from tests.rpc.api.serving import copy_followed, dispatcher_over, dispatcher_within, followed_chain
from tests.rpc.recorded_requests import ENVELOPES, NEWER, OLDER, Exchange, comparable, recorded_exchanges

ELSEWHERE = {"operation_history", "account_history", "no_such_api"}
"""APIs whose methods are not here."""

OF_THE_MAIN_PROCESS = {("network_broadcast_api", "broadcast_transaction"), ("network_broadcast_api", "broadcast_block")}

FROM_ITS_CACHE = 188
"""The request that the node of 4.1.0 answered from its cache."""


def is_of_sales(exchange: Exchange) -> bool:
    """Whether it asks for what is for sale: 4.1.0 takes an argument more there."""
    return str(json.loads(exchange.body)["params"][1]).endswith(("on_sale", "on_auction"))


def is_of(exchange: Exchange, api: str, method: str) -> bool:
    return exchange.number not in ENVELOPES and json.loads(exchange.body)["params"][:2] == [api, method]


def is_of_ours(exchange: Exchange) -> bool:
    if exchange.number in ENVELOPES:
        return False
    api, method, arguments = json.loads(exchange.body)["params"]
    # What the main process decides over has a test of its own.
    return api not in ELSEWHERE and not ((api, method) in OF_THE_MAIN_PROCESS and arguments == [{}])


def assert_answers(dispatcher: Dispatcher, exchanges: list[Exchange], answer_of: Callable[[Exchange], str]) -> None:
    assert len(exchanges) > 1300
    for exchange in exchanges:
        answer = dispatcher.answer(exchange.body.encode())
        assert isinstance(answer, bytes)
        assert comparable(answer) == comparable(answer_of(exchange)), exchange.body


def today(exchange: Exchange) -> str:
    """What 3.2.0 answered, as 4.1.0 does."""
    method = json.loads(exchange.body)["params"][1]
    return answer_with_additions(method, exchange.answer)


def test_every_odd_call_gets_the_recorded_answer(tmp_path: Path) -> None:
    copy_followed("open-1", 2718, tmp_path)
    with dispatcher_over("open-1", tmp_path) as dispatcher:
        exchanges = [each for each in recorded_exchanges(OLDER) if is_of_ours(each) and not is_of_sales(each)]
        assert_answers(dispatcher, exchanges, today)


def test_every_odd_call_gets_the_answer_of_4_1_0_while_transactions_wait(tmp_path: Path) -> None:
    """That node had answered the requests of `api-2027` and taken the transactions of the probe before."""
    copy_followed("open-pm", 2027, tmp_path)
    with followed_chain("open-pm", tmp_path) as chain:
        for fact in recorded_probe("open-pm/probe-2027"):
            if "trx" in fact:
                refusal_of(chain, fact["trx"], unicode_escapes=True)
        with dispatcher_within(chain, "open-pm", tmp_path) as dispatcher:
            exchanges = [
                each for each in recorded_exchanges(NEWER) if is_of_ours(each) and each.number != FROM_ITS_CACHE
            ]
            assert_answers(dispatcher, exchanges, lambda exchange: exchange.answer)


def test_one_answer_of_4_1_0_is_from_before_the_transactions() -> None:
    answer = recorded_exchanges(NEWER)[FROM_ITS_CACHE].answer

    assert f'"result":{recorded_result("open-pm/api-2027", "get_dynamic_global_properties")},"id"' in answer


@pytest.mark.parametrize(("name", "file"), [("open-1", OLDER), ("open-pm", NEWER)])
def test_an_empty_block_is_refused_with_the_recorded_answer(name: str, file: str, tmp_path: Path) -> None:
    recorded = next(
        json.loads(each.answer)
        for each in recorded_exchanges(file)
        if is_of(each, "network_broadcast_api", "broadcast_block") and json.loads(each.body)["params"][2] == [{}]
    )
    with open_replayed(name, ALL_CHAINS[name], tmp_path) as chain:
        chain.parts.linking.follow_trunk()  # as after each block: that node had just replayed them
        refused = chain.push_block(codec_of(Block).from_json({})).violation

    assert refused is not None
    fault = error_object(refused, 0)
    assert comparable(f'{{"jsonrpc":"2.0","error":{fault.text},"id":1}}') == comparable(json.dumps(recorded))
