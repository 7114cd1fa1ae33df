"""Two nodes in virtual time: blocks that travel, forks, restarts, and transactions that wait at one of them.

What a node answers is made from its head, so that any two that stand at one block say the same. A model, so that a
thousand hours take minutes; nodes with a real state are in `real_nodes`.
"""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ledgerd.compare.asking import Pair
from ledgerd.compare.node import AnsweringNode, NodeAnswer, NotComparable
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.shadow.finding import Finder
from ledgerd.shadow.following import Shadow
from ledgerd.shadow.keeping.bundles import Bundles
from ledgerd.shadow.keeping.record import ShadowRecord

BLOCK_SECONDS = 3
BEGINS = 1_000_000
"""The first block, so that all have some after them."""
MARKETS = 3
STARTS = 3_000.0
LAG = 15
"""Blocks that can still be undone."""
NAMES = tuple(f"account{number:03}" for number in range(120))
EVERY_API = (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY)

Plant = Callable[[int, str, Sequence[Any], Any], Any]
"""A fault: gets the head's number, the method, its arguments and the answer, and gives what is answered."""


class Trouble(NamedTuple):
    """What happens to a node from one second to another."""

    begins: float
    ends: float
    kind: str
    """`away`, `fork` or `waiting`."""


@lru_cache(1 << 14)
def hashed(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


class World:
    """Virtual time."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now = STARTS

    def clock(self) -> float:
        return self.now

    def delay(self, node: str, number: int) -> float:
        """The seconds that a block travels to a node."""
        return 0.05 + zlib.crc32(b"%d %s %d" % (self.seed, node.encode(), number)) % 1_150 / 1_000


class ModelNode(AnsweringNode):
    """One of both."""

    def __init__(self, world: World, name: str, rate: float, hours: float) -> None:
        super().__init__(f"http://{name}")
        self.world = world
        self.name = name
        self.rate = rate
        self.plant: Plant = lambda _head, _method, _arguments, answer: answer
        self.parts_at = 1 << 31
        """The block from which on this node has a chain of its own."""
        self.troubles = list(self._made_troubles(Random(f"{world.seed} {name}"), hours * 3_600))  # noqa: S311 - a seed
        self._begins = [each.begins for each in self.troubles]
        self.answered = 0

    @staticmethod
    def _made_troubles(random: Random, seconds: float) -> Any:
        now = STARTS + random.uniform(60, 1_800)
        while now < STARTS + seconds:
            kind = random.choice(("away", "fork", "waiting", "waiting"))
            longest = {"away": 600, "fork": 36, "waiting": 30}[kind]
            ends = now + random.uniform(1, longest)
            yield Trouble(now, ends, kind)
            now = ends + random.uniform(60, 1_800)

    def trouble(self) -> str:
        place = bisect_right(self._begins, self.world.now) - 1
        return self.troubles[place].kind if place >= 0 and self.world.now < self.troubles[place].ends else ""

    # -- its chain

    def branch(self, number: int) -> str:
        """The branch that a block is of at this node now: a fork is one of the blocks since it began."""
        if number >= self.parts_at:
            return f"{self.name} apart"
        place = bisect_right(self._begins, self.world.now) - 1
        if self.trouble() != "fork" or number * BLOCK_SECONDS < self.troubles[place].begins:
            return ""
        return f"{self.name} {place}"

    @property
    def head(self) -> int:
        number = int(self.world.now / BLOCK_SECONDS)
        return number if number * BLOCK_SECONDS + self.world.delay(self.name, number) <= self.world.now else number - 1

    def id(self, number: int) -> str:
        return f"{BEGINS + number:08x}{hashed(self.world.seed, number, self.branch(number))}"

    # -- its answers

    def ask(self, _api: str, method: str, arguments: Sequence[object]) -> NodeAnswer:
        self.requests += 1
        self.world.now += 0.5 / self.rate
        trouble = self.trouble()
        if trouble == "away":
            self.world.now += 1
            raise NotComparable(f"{self.url} gives no answer: refused")
        head = self.head
        answer = self._answer(method, arguments, head)
        if trouble == "waiting" and method in ("get_accounts", "get_dynamic_global_properties") and head % 3:
            answer = _waiting(answer)
        self.answered += 1
        return NodeAnswer(self.plant(head, method, arguments, answer))

    def _answer(self, method: str, arguments: Sequence[Any], head: int) -> Any:
        match method:
            case "get_config":
                return {"CHAIN_ID": "00", "CHAIN_NAME": "VIZ", "CHAIN_VERSION": "3.3.0"}
            case "get_dynamic_global_properties":
                return {
                    "head_block_number": BEGINS + head,
                    "head_block_id": self.id(head),
                    "last_irreversible_block_num": BEGINS + head - LAG,
                    "current_supply": hashed(self.id(head)),
                }
            case "get_block_header" | "get_block":
                return self._block(arguments[0] - BEGINS, head)
            case "get_ops_in_block":
                number = arguments[0] - BEGINS
                return [{"trx_id": self.id(number)[:40], "op": ["transfer", {"from": self.touched(number)}]}]
            case "lookup_accounts":
                return [name for name in NAMES if name >= arguments[0]][: arguments[1]]
            case "get_accounts":
                return [self.account(name, head) for name in arguments[0] if name in NAMES]
            case "get_market" if arguments[0] > MARKETS:
                return None
        return {"value": hashed(method, repr(arguments), self.id(head))}

    def touched(self, number: int) -> str:
        return NAMES[int(self.id(number)[-4:], 16) % len(NAMES)]

    def account(self, name: str, head: int) -> dict[str, Any]:
        return {"name": name, "balance": hashed(name, self.id(head))}

    def _block(self, number: int, head: int) -> Any:
        if not 1 - BEGINS <= number <= head:
            return None
        return {"previous": self.id(number - 1), "validator": self.touched(number)}


def _waiting(answer: Any) -> Any:
    if isinstance(answer, list):
        return [each | {"balance": "waits"} for each in answer]
    return {**answer, "current_supply": "waits"}


class Played:
    """A shadow of two such nodes."""

    def __init__(self, seed: int, folder: Path, rate: float = 6.0, hours: float = 5.0) -> None:
        self.world = World(seed)
        self.ours, self.theirs = (ModelNode(self.world, name, rate, hours) for name in ("ours", "theirs"))
        self.told: list[str] = []
        self.folder = folder
        self.record = ShadowRecord(seed=seed)
        self.start()

    def start(self) -> None:
        """Start the shadow, or start it again with what is in its record."""
        pair = Pair(self.ours, self.theirs)
        finder = Finder(pair, Bundles(self.folder, "test", {}), self.told.append)
        self.shadow = Shadow(pair, EVERY_API, self.record, finder, self.world.clock)

    def run(self, hours: float, until: Callable[[], bool] = lambda: False) -> None:
        end = self.world.now + hours * 3_600
        while self.world.now < end and not until():
            pause = self.shadow.step()
            self.world.now += pause
