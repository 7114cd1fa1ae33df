"""Every recorded request gets the recorded answer, byte for byte, from a chain of ours at the same height."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.describe.openrpc import recorded_examples
from tests.chain.recorded_chains import LIKE_THE_RECORDING
from tests.recorded import AGAIN, ALL_CHAINS, recorded_answers
from tests.rpc.api.serving import (
    copy_followed,
    dispatcher_over,
    examples_that_differ,
    followed_chain,
    recorded_api_answers,
    without_origin,
)

STANDS = {
    "open-1": ((200, ("api-200",)), (2718, ("api-2718", "answers-2718"))),
    "open-2": ((617, ("api-617", "answers-617")),),
    "open-hf0": ((336, ("api-336", "answers-336")),),
    "open-main": ((900, ("api-900", "answers-900")), (901, ("api-901-emergency", "answers-901"))),
    AGAIN: ((2718, ("api-2718",)),),
    "open-pm": ((300, ("api-300",)), (1200, ("api-1200",)), (2027, ("api-2027", "answers-2027"))),
    "open-pm2": ((463, ("api-463", "answers-463")),),
    "open-big": ((207, ("api-207",)), (1350, ("api-1350", "answers-1350"))),
    "open-main15": ((330, ("api-330",)), (1216, ("api-1216", "answers-1216"))),
}
"""The heights at which nodes were asked, and the files of their answers; without files, only examples are asked for."""

OF_MARKETS = "prediction_market_api"
"""Asked for in `prediction_market/test_recorded_markets.py`."""

AROUND = 100


def first_difference(ours: str, recorded: str) -> str | None:
    if ours == recorded:
        return None
    pairs = enumerate(zip(ours, recorded, strict=False))
    place = next((place for place, (a, b) in pairs if a != b), min(len(ours), len(recorded)))
    start = max(0, place - AROUND)
    return f"...{ours[start : place + AROUND]} instead of ...{recorded[start : place + AROUND]}"


def stand_at(name: str, height: int, folder: Path) -> None:
    logged = min(height, ALL_CHAINS.get(name, height))
    copy_followed(name, logged, folder)
    for number in range(logged + 1, height + 1):
        # A block after those of the log, which the node that had it answered with.
        raw = json.loads(recorded_answers(name, height)["get_raw_block"][(number,)])["raw_block"]
        with followed_chain(name, folder) as chain:
            chain.push_block(codec_of(Block).decode(base64.b64decode(raw)), LIKE_THE_RECORDING).or_raise()


def test_the_examples_were_recorded_where_answers_are_looked_at() -> None:
    places = {(each.chain, each.height) for each in recorded_examples().values()}

    assert places - {("", 0)} <= {(name, height) for name, stands in STANDS.items() for height, _ in stands}
    assert {name for name, each in recorded_examples().items() if not each.chain} == {
        "network_broadcast_api.broadcast_transaction"
    }


@pytest.mark.parametrize("name", STANDS)
def test_recorded_requests_get_the_recorded_answers(name: str, tmp_path: Path) -> None:
    for height, files in STANDS[name]:
        folder = tmp_path / str(height)
        stand_at(name, height, folder)
        with dispatcher_over(name, folder) as dispatcher:
            for request, recorded in recorded_api_answers(name, *files):
                if request["params"][0] == OF_MARKETS:
                    continue
                answer = dispatcher.answer(json.dumps(request).encode())
                assert isinstance(answer, bytes)
                ours = answer.decode("utf-8", "surrogateescape")
                found = first_difference(without_origin(ours), without_origin(recorded))
                assert found is None, f"{name} at {height}, {request['params']}: {found}"
            assert examples_that_differ(dispatcher, name, height) == []
