"""Whose signatures a transaction needs: 13,371 recorded answers about the transactions of probes, among them many that
agents have signed, from a state of ours at that height.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.rpc.api import APIS
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.imported import imported_state
from tests.chain.recorded_chains import network_of
from tests.rpc.api.serving import NoMain, recorded_api_answers, without_origin

CHAIN, HEIGHT = "open-pm", 2027
ASKED = {
    "get_required_signatures": 6150,
    "get_potential_signatures": 3748,
    "verify_authority": 3209,
    "verify_account_authority": 264,
}

REFUSED = 1677
"""Of these, those that are errors; all but ten have a format and its values."""


def test_every_answer_about_signatures_is_the_recorded_one(tmp_path: Path) -> None:
    with imported_state(CHAIN, HEIGHT, tmp_path):
        pass
    asked, refused = Counter[str](), 0
    with StateReader.open(tmp_path / STATE_FOLDER, STORED_TABLES) as reader:
        node = Node(network_of(CHAIN), reader.snapshot, NoMain())
        dispatcher = Dispatcher(APIS, node, lambda: 0.0, cache=AnswerCache(0), limits=Limits())
        for request, recorded in recorded_api_answers(CHAIN, f"answers-{HEIGHT}-signatures"):
            answer = dispatcher.answer(json.dumps(request).encode())
            assert isinstance(answer, bytes)
            assert without_origin(answer.decode()) == without_origin(recorded), json.dumps(request)
            asked[request["params"][1]] += 1
            refused += recorded.startswith('{"jsonrpc":"2.0","error":')
    assert (asked, refused) == (ASKED, REFUSED)
