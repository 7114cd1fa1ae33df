"""Two nodes of ours with a recorded chain each, which grows block by block in virtual time; one may have a fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.block_context import Step
from ledgerd.chain.steps import applying
from ledgerd.compare.asking import Pair
from ledgerd.compare.node import AnsweringNode, NodeAnswer
from ledgerd.rpc.api import APIS
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.shadow.finding import Finder
from ledgerd.shadow.following import Shadow
from ledgerd.shadow.keeping.bundles import Bundles
from ledgerd.shadow.keeping.record import ShadowRecord
from tests.chain.recorded_chains import advance, open_chain
from tests.chain.replays import copy_replayed
from tests.rpc.api.serving import dispatcher_within

CHAIN, BEGINS = "open-pm2", 250
BLOCK_SECONDS = 3.0
RATE = 20.0

Change = Callable[[str, list[Any], Any], Any]


class Time:
    """Virtual seconds."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class RealNode(AnsweringNode):
    """A chain and what answers from it."""

    def __init__(self, name: str, chain: Chain, dispatcher: Dispatcher, time: Time) -> None:
        super().__init__(f"http://{name}")
        self.chain = chain
        self.change: Change = lambda _method, _arguments, result: result
        self.skipped: Step | None = None
        """A step of a block that this node leaves out."""
        self._dispatcher = dispatcher
        self._time = time

    def grow(self, to: int) -> None:
        steps = tuple(step for step in applying.STEPS if step is not self.skipped)
        with patch.object(applying, "STEPS", steps):
            advance(self.chain, CHAIN, to)

    def ask(self, api: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
        self.requests += 1
        self._time.now += 0.5 / RATE
        request = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [api, method, list(arguments)]}
        answer = self._dispatcher.answer(json.dumps(request).encode())
        assert isinstance(answer, bytes)
        envelope = json.loads(answer.decode("utf-8", "surrogateescape"))
        if "error" in envelope:
            return NodeAnswer(None, envelope["error"]["message"].strip())
        return NodeAnswer(self.change(method, list(arguments), envelope["result"]), size=len(answer))


class RealPair:
    """Both, and a shadow of one beside the other."""

    def __init__(self, folder: Path, ours: RealNode, theirs: RealNode, time: Time) -> None:
        self.ours, self.theirs, self.time = ours, theirs, time
        self.record = ShadowRecord(seed=7)
        self.record.ours.url, self.record.theirs.url = ours.url, theirs.url
        self.told: list[str] = []
        self.requests = 0
        self.configuration: dict[str, str] = {}
        pair = Pair(ours, theirs)
        self.folder = folder
        finder = Finder(pair, Bundles(folder, "ledgerd", self.configuration), self.told.append)
        self.shadow = Shadow(pair, APIS, self.record, finder, time)

    @property
    def head(self) -> int:
        return self.ours.chain.head_number

    def run(self, blocks: int, until: Callable[[], bool] = lambda: False) -> None:
        """Let so many blocks come, and the shadow ask meanwhile."""
        last = self.head + blocks
        while self.head < last and not until():
            end = self.time.now + BLOCK_SECONDS
            while self.time.now < end:
                pause = self.shadow.step()
                self.time.now += pause
            number = self.head + 1
            self.ours.grow(number)
            self.theirs.grow(number)

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("difference-*.json"))


@contextmanager
def real_pair(folder: Path, begins: int = BEGINS) -> Iterator[RealPair]:
    time, nodes = Time(), list[RealNode]()
    with ExitStack() as stack:
        for name in ("ours", "theirs"):
            place = folder / name
            copy_replayed(CHAIN, begins, place)
            chain = stack.enter_context(open_chain(CHAIN, place))
            dispatcher = stack.enter_context(dispatcher_within(chain, CHAIN, place))
            nodes.append(RealNode(name, chain, dispatcher, time))
        found = folder / "shadow"
        found.mkdir()
        yield RealPair(found, nodes[0], nodes[1], time)
