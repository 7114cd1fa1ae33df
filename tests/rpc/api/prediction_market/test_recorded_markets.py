"""Every recorded request about markets gets the recorded answer, byte for byte, from a chain of ours at that height."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorded import AGAIN
from tests.rpc.api.serving import (
    copy_followed,
    dispatcher_over,
    examples_that_differ,
    recorded_api_answers,
    without_origin,
)

HEIGHTS = {
    "open-pm": (300, 1200, 2027),
    "open-pm2": (463,),
    "open-big": (207, 1350),
    "open-main15": (330, 1216),
    AGAIN: (2718,),
}
REQUESTS = {"open-pm": 11_631, "open-pm2": 2_686, "open-big": 1_684, "open-main15": 5_281, AGAIN: 11_128}
"""The last chain stands at hardfork 13 and has no markets: nothing is found there, or it is refused."""
METHODS = dict.fromkeys(HEIGHTS, 38) | {AGAIN: 37}


@pytest.mark.parametrize("name", HEIGHTS)
def test_recorded_requests_about_markets_get_the_recorded_answers(name: str, tmp_path: Path) -> None:
    count, asked = 0, set()
    for height in HEIGHTS[name]:
        folder = tmp_path / str(height)
        copy_followed(name, height, folder)
        with dispatcher_over(name, folder) as dispatcher:
            for request, recorded in recorded_api_answers(name, f"api-{height}"):
                api, method, _ = request["params"]
                if api != "prediction_market_api":
                    continue
                answer = dispatcher.answer(json.dumps(request).encode())
                assert isinstance(answer, bytes)
                ours = without_origin(answer.decode("utf-8", "surrogateescape"))
                assert ours == without_origin(recorded), f"{name} at {height}, {request['params']}"
                count += 1
                asked.add(method)
            assert examples_that_differ(dispatcher, name, height) == []
    assert (count, len(asked)) == (REQUESTS[name], METHODS[name])
