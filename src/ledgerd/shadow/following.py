"""The shadow: two nodes are asked the same questions, step by step, for as long as both run.

A step is a batch of questions between two looks at both heads. What was asked while a head moved is dropped and asked
again, so nothing but answers at one block is compared. Time, the nodes and the files are handed in: a simulation plays
weeks in seconds.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead, Pair, head_in
from ledgerd.compare.blocks import IDS, first_kept
from ledgerd.compare.comparison import HISTORIES
from ledgerd.compare.node import AnsweringNode, NotComparable
from ledgerd.compare.reads import Read, SeenValues, comparable, random_read
from ledgerd.rpc.call.declarations import Api, Method
from ledgerd.shadow.asking.questions import HEAD, ROUND, TouchedObjects, block_reads, round_reads
from ledgerd.shadow.asking.suspects import Answers, Suspects, size_of
from ledgerd.shadow.asking.sweep import Sweep
from ledgerd.shadow.finding import Finder, ShadowFinding
from ledgerd.shadow.keeping.record import EqualBlock, NodeStanding, ShadowRecord

BATCH_SECONDS = 0.5
"""A block comes every three seconds: most batches lie between two."""
MOST_IN_BATCH = 64
MOST_WAITING = 4_000
"""Questions that wait; those of a round are left out where the ones of the last round still do."""
MOST_BLOCKS = 210
"""Blocks that are asked for after a pause of the shadow; of those before, the ids are compared."""
MOST_SEEN = 20_000
"""Names, keys and transactions that random questions are made of."""

APART_PAUSE, AWAY_PAUSE, LONGEST_AWAY = 0.3, 1.0, 30.0
LAGS_SECONDS = 30
"""Seconds that both may stand at different blocks before the record says so: blocks travel."""
LONGEST_WORDS = 400
ALIKE = "CHAIN_ID"
OPERATIONS = "get_ops_in_block"
BLOCK_METHODS = ("get_block", OPERATIONS)


class Heads(NamedTuple):
    """Both heads, and the answers that they were read from."""

    ours: NodeHead
    theirs: NodeHead
    answers: Answers

    @property
    def is_one(self) -> bool:
        return self.ours.id == self.theirs.id


class AskedRead(NamedTuple):
    """A question of a batch, and the answers to it."""

    read: Read
    answers: Answers


class Shadow:
    """One comparison that goes on; `step` is called again after the seconds that it returns."""

    def __init__(
        self, pair: Pair, apis: Sequence[Api], record: ShadowRecord, finder: Finder, clock: Callable[[], float]
    ) -> None:
        self.record = record
        self._pair = pair
        self._finder = finder
        self._clock = clock
        self._methods = [each for methods in comparable(apis).values() for each in methods]
        self._missing: set[tuple[str, str]] = set()
        self._left_out: frozenset[str] = frozenset()
        self._has_begun = False
        self._heads: Heads | None = None
        """Both heads, where they were looked at a moment ago."""
        self._size = 8
        self._failures = 0
        self._suspects = Suspects()
        self._asked: list[AskedRead] = []
        """What was asked since both heads were looked at."""
        self._failed = ""
        """The question that was not answered last."""
        self._given_up: set[str] = set()
        """Questions that one of both does not answer."""
        self._blind_until = -1
        """A block up to which a question that it asks for was given up: it counts as equal no more."""
        self._urgent: deque[Read] = deque(maxlen=MOST_WAITING)
        self._waiting: OrderedDict[str, Read] = OrderedDict()
        self._again: deque[Read] = deque()
        self._touched = TouchedObjects()
        self._seen = SeenValues(record.highest, most=MOST_SEEN)
        self._sweep = Sweep(record.cursor, record.sweeps)
        self._walk = self._sweep.reads()
        self._swept: Read | None = None
        self._cycle: list[Method] = []
        self._is_random_next = False
        self._looked_at = ""
        """The head whose questions were made."""
        self._round = record.highest // ROUND
        self._followed = 0
        """The head when both began to be followed without a pause; what is kept of blocks before may differ."""
        self._kept = 0
        """The first of the latest blocks that both have."""

    # -- one step

    def step(self) -> float:
        try:
            self._begin()
            heads = self._heads or self._look()
            self._heads = None
            pause = self._together(heads) if heads.is_one else self._apart(heads)
        except NotComparable as problem:
            self._drop()
            self._has_begun, self._heads = False, None
            self._failures += 1
            self._set_apart(printable(str(problem))[:LONGEST_WORDS])
            return min(LONGEST_AWAY, AWAY_PAUSE * self._failures)
        self._failures = 0
        self._note_counts()
        return pause

    def _begin(self) -> None:
        """After the start, and after a pause of one of both: are they of one chain, and what do they answer?"""
        if self._has_begun:
            return
        record = self.record
        configs = [self._ask_one(side, node, "get_config") for side, node in self._sides]
        chains = [_text(config, ALIKE) for config in configs]
        if chains[0] != chains[1] or (record.chain_id and record.chain_id != chains[0]):
            known = f"; the record is of {record.chain_id}" if record.chain_id else ""
            record.theirs.problem = f"the nodes are of different chains: {chains[0]} and {chains[1]}{known}"
            raise NotComparable(record.theirs.problem)
        record.chain_id = chains[0]
        versions = [_text(config, "CHAIN_VERSION") for config in configs]
        record.ours.version, record.theirs.version = versions
        self._pair.allows_one_sided = versions[0] != versions[1]
        self._missing.clear()
        first_blocks = [node.ask("database_api", "get_block_header", [1]) for _, node in self._sides]
        self._left_out = frozenset() if all(each.value for each in first_blocks) else HISTORIES
        record.since = record.since or self._second
        self._followed, self._looked_at = 0, ""
        self._has_begun = True

    @property
    def _sides(self) -> tuple[tuple[NodeStanding, AnsweringNode], tuple[NodeStanding, AnsweringNode]]:
        return (self.record.ours, self._pair.first), (self.record.theirs, self._pair.second)

    @property
    def _second(self) -> int:
        return int(self._clock())

    def _ask_one(self, side: NodeStanding, node: AnsweringNode, method: str) -> Json:
        try:
            return node.value("database_api", method)
        except NotComparable as problem:
            side.problem = printable(str(problem))[:LONGEST_WORDS]
            raise

    def _look(self) -> Heads:
        found = []
        for side, node in self._sides:
            try:
                answer = node.ask(HEAD.api, HEAD.method, ())
                head = head_in(node, node.result(HEAD.api, HEAD.method, answer))
            except NotComparable as problem:
                side.problem = printable(str(problem))[:LONGEST_WORDS]
                raise
            side.number, side.id, side.irreversible = head
            side.at, side.problem = self._second, ""
            found.append((head, answer))
        (ours, one), (theirs, other) = found
        return Heads(ours, theirs, (one, other))

    # -- apart

    def _apart(self, heads: Heads) -> float:
        """Both stand at different blocks: for a moment, or since one is behind or on a branch. What is irreversible at
        both has to be the same.
        """
        ours, theirs = heads.ours, heads.theirs
        lower = min(ours.irreversible, theirs.irreversible)
        if lower > self._finder.same_until:
            found = self._finder.parted(ours, theirs, lower)
            if found is not None:
                self._tell(found)
        behind = ours.number - theirs.number
        self._set_apart(
            f"ours is at block {ours.number}, the other one at block {theirs.number}"
            if behind
            else f"both are at block {ours.number}, of different branches"
        )
        return APART_PAUSE

    def _set_apart(self, words: str) -> None:
        record = self.record
        if not words:
            record.apart, record.apart_since = "", 0
            return
        record.apart_since = record.apart_since or self._second
        if self._second - record.apart_since >= LAGS_SECONDS or self._failures:
            record.apart = words

    # -- together

    def _together(self, heads: Heads) -> float:
        head = heads.ours
        self._set_apart("")
        if head.id != self._looked_at:
            self._new_head(head)
        self._ask_batch()
        self._heads = after = self._look()
        if after.ours.id != head.id or after.theirs.id != head.id:
            self._drop()
            return 0.0
        asked, self._asked = self._asked, []
        self._size = min(self._size + 1, MOST_IN_BATCH)
        self._conclude(AskedRead(HEAD, heads.answers), head)
        for each in asked:
            self._conclude(each, head)
        is_known = not self._urgent and not self._again and head.number > self._blind_until
        if is_known and not self._suspects.differing_at(head):
            self.record.equal = EqualBlock(head.number, head.id, self._second)
        return 0.0

    def _new_head(self, head: NodeHead) -> None:
        record = self.record
        self._looked_at = head.id
        first = max(record.highest + 1, head.number - (MOST_BLOCKS if record.highest else ROUND) + 1)
        if head.number <= record.highest:  # both have left a branch, or were away for a moment
            first = max(head.irreversible + 1, head.number - MOST_BLOCKS + 1)
        if not self._followed:
            self._followed = head.number
            nodes = self._pair.first, self._pair.second
            self._kept = max(first_kept(node, head.irreversible) for node in nodes)
        self._seen.move_to(max(self._kept, head.irreversible - IDS + 1), head.irreversible)
        for number in range(max(first, self._kept), head.number + 1):
            self._put(block_reads(number), is_urgent=number > head.number - ROUND)
        if not record.first_block:
            record.first_block = head.number
        record.blocks += max(0, head.number - max(record.highest, record.first_block - 1))
        record.highest = max(record.highest, head.number)
        if head.number // ROUND > self._round:
            self._round = head.number // ROUND
            record.rounds += 1
            self._put(round_reads(), is_urgent=False)

    def _ask_batch(self) -> None:
        """What a new head asks for is a batch by itself: whether both are equal there is known soon."""
        until = self._clock() + BATCH_SECONDS
        due = deque(self._suspects.due(self._clock()))
        is_urgent = bool(self._urgent)
        for _ in range(self._size):
            if is_urgent and not self._urgent:
                break
            read = self._next(due)
            if read is None:
                break
            self._ask(read)
            if self._clock() >= until:
                break

    def _ask(self, read: Read) -> None:
        answers = self._answered(read)
        is_missing = any(answer.is_missing for answer in answers)
        if is_missing:
            self._missing.add((read.api, read.method))
        if read is self._swept:
            self._swept = self._walk.send(None if is_missing else answers[0].value)
        if not is_missing:
            if read.method in BLOCK_METHODS:
                self._note_block(read, answers[0].value)
            self._asked.append(AskedRead(read, answers))

    def _answered(self, read: Read) -> Answers:
        """One that is not answered is asked once more, after the pause; then it is counted, and left out."""
        found = []
        for side, node in self._sides:
            try:
                found.append(node.ask(read.api, read.method, read.arguments))
            except NotComparable as problem:
                side.problem = printable(str(problem))[:LONGEST_WORDS]
                self._put_off(read)
                if read is self._swept:
                    self._swept = self._walk.send(None)
                raise
        return found[0], found[1]

    def _put_off(self, read: Read) -> None:
        if self._failed != read.words:
            self._failed = read.words
            self._again.append(read)
            return
        self.record.unanswered += 1
        self._blind_until = self.record.highest
        if len(self._given_up) < MOST_WAITING:
            self._given_up.add(read.words)

    def _note_block(self, read: Read, value: Json) -> None:
        number = read.arguments[0]
        if not isinstance(number, int) or number <= self.record.highest - MOST_BLOCKS:
            return  # a random question about the past
        self._touched.add(value)
        self._finder.note_block(read, value)
        for each in value if isinstance(value, list) else ():
            self._seen.add_transaction(each)
        self._put(self._touched.taken(), is_urgent=number > self.record.highest - ROUND)

    def _put(self, reads: Iterable[Read], *, is_urgent: bool) -> None:
        if is_urgent:
            self._urgent.extend(reads)
        elif len(self._waiting) < MOST_WAITING:
            self._waiting.update((each.words, each) for each in reads)

    def _next(self, due: deque[Read]) -> Read | None:
        """The next question, by its urgency; sweep and random ones by turns where there is time."""
        while due or self._again or self._urgent:
            read = (due or self._again or self._urgent).popleft()
            if self._is_asked(read):
                return read
        self._is_random_next = not self._is_random_next
        while self._waiting:
            _, read = self._waiting.popitem(last=False)
            if self._is_asked(read):
                return read
        return self._random() if self._is_random_next else self._of_sweep()

    def _is_asked(self, read: Read) -> bool:
        if (read.api, read.method) in self._missing or (self._given_up and read.words in self._given_up):
            return False
        if read.api not in self._left_out:
            return True
        return read.method == OPERATIONS and isinstance(first := read.arguments[0], int) and first > self._followed

    def _of_sweep(self) -> Read | None:
        if self._swept is None:
            self._swept = next(self._walk)
        for _ in range(MOST_WAITING):
            if self._is_asked(self._swept):
                return self._swept
            self._swept = self._walk.send(None)
        return None

    def _random(self) -> Read | None:
        """Each method once, in an order that the seed gives, then each again."""
        record = self.record
        random = Random(record.seed << 32 | record.reads)  # noqa: S311 - a seed that is in the record
        if not self._cycle:
            self._cycle = [*self._methods]
            random.shuffle(self._cycle)
        while self._cycle:
            read = random_read(self._cycle.pop(), self._seen, random)
            if read is not None and self._is_asked(read):
                record.reads += 1
                return read
        return None

    def _drop(self) -> None:
        """Ask again what was asked of two heads, or of a node that is away now. A block that both have answered in the
        same way is the same, whatever their heads are.
        """
        asked, self._asked = self._asked, []
        self._size = max(1, self._size // 2)
        for read, answers in asked:
            if read.method in BLOCK_METHODS and self._is_same(read, answers):
                self._count_equal(read, answers)
            else:
                self.record.dropped += 1
                self._again.append(read)

    def _is_same(self, read: Read, answers: Answers) -> bool:
        try:
            return self._pair.difference(read, *answers) is None
        except NotComparable:
            return False

    # -- what came of a question

    def _conclude(self, asked: AskedRead, head: NodeHead) -> None:
        read, answers = asked
        try:
            difference = self._pair.difference(read, *answers)
        except NotComparable:  # nested too deeply: as if it were not answered
            self._failed = read.words
            self._put_off(read)
            return
        if difference is None:
            self._count_equal(read, answers)
            self._finder.note_equal(read, answers[0], head)
            if read.method == "get_accounts" and isinstance(answers[0].value, list):
                for account in answers[0].value:
                    self._seen.add_account(account)
            return
        self.record.questions += 1
        equal_at = self._finder.equal_at(read)
        lasting = self._suspects.add(read, difference, answers, head, equal_at, self._clock())
        if lasting is not None:
            self._tell(self._finder.lasting(lasting))

    def _count_equal(self, read: Read, answers: Answers) -> None:
        record = self.record
        record.questions += 1
        record.objects += size_of(answers[0].value)
        record.cleared += self._suspects.clear(read)

    def _tell(self, found: ShadowFinding) -> None:
        self._finder.tell(found, self.record, self._second)

    def _note_counts(self) -> None:
        record = self.record
        record.cursor, record.sweeps = self._sweep.cursor, self._sweep.done
        record.doubtful, record.doubt = len(self._suspects), printable(self._suspects.doubt)[:LONGEST_WORDS]
        record.one_sided = list(map(printable, self._pair.one_sided))


def _text(config: Json, name: str) -> str:
    value = config.get(name) if isinstance(config, dict) else None
    return printable(value if isinstance(value, str) else json.dumps(value))[:80]
