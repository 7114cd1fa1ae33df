"""What is asked next: what a block and a round ask for first, then the walk over everything and random reads."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from random import Random

from ledgerd.codec.json.text import Json
from ledgerd.compare.reads import Read, SeenValues, comparable, random_read
from ledgerd.rpc.call.declarations import Api, Method
from ledgerd.shadow.asking.questions import ROUND, TouchedObjects, block_reads
from ledgerd.shadow.asking.sweep import Sweep
from ledgerd.shadow.keeping.record import ShadowRecord

MOST_WAITING = 4_000
"""Questions that wait; those of a round are left out where the ones of the last round still do."""
MOST_BLOCKS = 210
"""Blocks that are asked for after a pause of the shadow; of those before, the ids are compared."""
MOST_SEEN = 20_000
"""Names, keys and transactions that random questions are made of."""

OPERATIONS = "get_ops_in_block"
BLOCK_METHODS = ("get_block", OPERATIONS)


class Agenda:
    """The questions that wait, in the order of their urgency."""

    def __init__(self, apis: Sequence[Api], record: ShadowRecord) -> None:
        self._record = record
        self._methods = [each for methods in comparable(apis).values() for each in methods]
        self._missing: set[tuple[str, str]] = set()
        self._left_out: frozenset[str] = frozenset()
        self._failed = ""
        """The question that was not answered last."""
        self._given_up: set[str] = set()
        """Questions that one of both does not answer."""
        self.blind_until = -1
        """A block up to which a question that it asks for was given up: it counts as equal no more."""
        self._urgent: deque[Read] = deque(maxlen=MOST_WAITING)
        self._waiting: OrderedDict[str, Read] = OrderedDict()
        self._again: deque[Read] = deque()
        self._touched = TouchedObjects()
        self.seen = SeenValues(record.highest, most=MOST_SEEN)
        self._sweep = Sweep(record.cursor, record.sweeps)
        self._walk = self._sweep.reads()
        self._swept: Read | None = None
        self._cycle: list[Method] = []
        self._is_random_next = False
        self.followed = 0
        """The head when both began to be followed without a pause; what is kept of blocks before may differ."""

    def begin(self, left_out: frozenset[str]) -> None:
        """Begin again after both nodes were reached: find out which methods they have."""
        self._missing.clear()
        self._left_out = left_out
        self.followed = 0

    # -- what is put on it

    def put(self, reads: Iterable[Read], *, is_urgent: bool) -> None:
        if is_urgent:
            self._urgent.extend(reads)
        elif len(self._waiting) < MOST_WAITING:
            self._waiting.update((each.words, each) for each in reads)

    def put_blocks(self, first: int, head: int) -> None:
        for number in range(first, head + 1):
            self.put(block_reads(number), is_urgent=number > head - ROUND)

    def put_touched(self, read: Read, value: Json) -> bool:
        """Ask for what a block has touched. Returns whether the block is one of the latest, rather than a random one of
        the past.
        """
        number, highest = read.arguments[0], self._record.highest
        if not isinstance(number, int) or number <= highest - MOST_BLOCKS:
            return False
        self._touched.add(value)
        for each in value if isinstance(value, list) else ():
            self.seen.add_transaction(each)
        self.put(self._touched.drain(), is_urgent=number > highest - ROUND)
        return True

    def put_again(self, read: Read) -> None:
        self._again.append(read)

    def put_off(self, read: Read) -> None:
        """Ask an unanswered question once more, after the pause; the second time, count it and leave it out."""
        if self._failed != read.words:
            self._failed = read.words
            self._again.append(read)
            return
        self._record.unanswered += 1
        self.blind_until = self._record.highest
        if len(self._given_up) < MOST_WAITING:
            self._given_up.add(read.words)

    def give_up(self, read: Read) -> None:
        """Leave out a question whose answers can't be compared, as if it had not been answered twice."""
        self._failed = read.words
        self.put_off(read)

    def add_missing(self, read: Read) -> None:
        self._missing.add((read.api, read.method))

    def advance_sweep(self, read: Read, value: Json) -> None:
        """The walk goes on from an answer, or from none."""
        if read is self._swept:
            self._swept = self._walk.send(value)

    def record_position(self) -> None:
        self._record.cursor, self._record.sweeps = self._sweep.cursor, self._sweep.done

    # -- what is taken from it

    @property
    def is_urgent(self) -> bool:
        return bool(self._urgent)

    @property
    def has_asked_blocks(self) -> bool:
        """Whether all that blocks ask for is asked."""
        return not self._urgent and not self._again

    def next(self, due: deque[Read]) -> Read | None:
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
        return read.method == OPERATIONS and isinstance(first := read.arguments[0], int) and first > self.followed

    def _of_sweep(self) -> Read | None:
        if self._swept is None:
            self._swept = next(self._walk)
        for _ in range(MOST_WAITING):
            if self._is_asked(self._swept):
                return self._swept
            self._swept = self._walk.send(None)
        return None

    def _random(self) -> Read | None:
        """Random reads: each method once, in an order that the seed gives, then each again."""
        record = self._record
        random = Random(record.seed << 32 | record.reads)  # noqa: S311 - a seed that is in the record
        if not self._cycle:
            self._cycle = [*self._methods]
            random.shuffle(self._cycle)
        while self._cycle:
            read = random_read(self._cycle.pop(), self.seen, random)
            if read is not None and self._is_asked(read):
                record.reads += 1
                return read
        return None
