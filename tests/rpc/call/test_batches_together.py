"""What a worker keeps of answers: for all together so much, and then it is refused to whoever has most."""

from __future__ import annotations

import asyncio
import json

from ledgerd.rpc.call.dispatch import Dispatcher, Later
from ledgerd.rpc.call.limits import Asker, Limits
from ledgerd.rpc.shares.loop_turns import LoopTurns
from tests.rpc.sample_api import dispatcher, request
from tests.rpc.ticking import ticking

REFUSED = "The node holds too many answers that are not taken (webserver-max-held-answer-bytes)"


def batch_of(serving: Dispatcher, share: str, count: int) -> Later:
    body = json.dumps([request("long", 10_000 + place) for place in range(count)]).encode()
    answer = serving.answer(body, Asker("203.0.113.1", share))
    assert isinstance(answer, Later)
    return answer


def test_batches_that_are_made_at_once_are_bounded_together() -> None:
    serving = dispatcher(limits=Limits(held_answer_bytes=100_000))
    serving.turns = LoopTurns(ticking())
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, serving.unsent_answers.total)
            await asyncio.sleep(0)

    async def scene() -> list[bytes]:
        watching = asyncio.ensure_future(watch())
        batches = [batch_of(serving, "hostile", 9) for _ in range(10)] + [batch_of(serving, "honest", 3)]
        answers = await asyncio.gather(*(each.first() for each in batches))
        watching.cancel()
        return answers

    *hostile, honest = [json.loads(answer) for answer in asyncio.run(scene())]
    assert sum(isinstance(each, dict) and each["error"]["message"] == REFUSED for each in hostile) > 0
    assert any(isinstance(each, list) for each in hostile), "as many as there is room for are answered"
    assert [len(each["result"]) for each in honest] == [10_005, 10_006, 10_007]
    assert most <= 100_000 + 11 * 10_100
    assert serving.unsent_answers.total == 0, "what has ended is not kept"
