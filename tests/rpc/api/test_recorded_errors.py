"""Every odd call of a method gets the error that was recorded, or the answer, where it was one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.additions import answer_with_additions
from tests.chain.recorded_chains import advance
from tests.rpc.api.serving import dispatcher_over, followed_chain
from tests.rpc.recorded_requests import ENVELOPES, Exchange, comparable, recorded_exchanges

ELSEWHERE = {"operation_history", "account_history", "no_such_api"}
"""APIs whose methods are not here."""

OF_THE_MAIN_PROCESS = {("network_broadcast_api", "broadcast_transaction"), ("network_broadcast_api", "broadcast_block")}


def is_of_ours(exchange: Exchange) -> bool:
    if exchange.number in ENVELOPES:
        return False
    api, method, arguments = json.loads(exchange.body)["params"]
    # What the main process decides over has a test of its own.
    return api not in ELSEWHERE and not ((api, method) in OF_THE_MAIN_PROCESS and arguments == [{}])


def test_every_odd_call_gets_the_recorded_answer(tmp_path: Path) -> None:
    with followed_chain("open-1", tmp_path) as chain:
        advance(chain, "open-1", 2718)
    exchanges = [exchange for exchange in recorded_exchanges() if is_of_ours(exchange)]
    assert len(exchanges) > 1400
    with dispatcher_over("open-1", tmp_path) as dispatcher:
        for exchange in exchanges:
            answer = dispatcher.answer(exchange.body.encode())
            assert isinstance(answer, bytes)
            recorded = answer_with_additions(json.loads(exchange.body)["params"][1], exchange.answer)
            assert comparable(answer) == comparable(recorded), exchange.body
