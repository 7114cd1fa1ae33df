"""The shadow: two nodes are asked the same questions, step by step, for as long as both run.

A step is a batch of questions between two looks at both heads. What was asked while a head moved is dropped and asked
again, so nothing but answers at one block is compared. Time, the nodes and the files are handed in: a simulation plays
weeks in seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.compare.asking import NodeHead, Pair
from ledgerd.compare.blocks import IDS, first_kept
from ledgerd.compare.node import NotComparable
from ledgerd.compare.reads import Read
from ledgerd.rpc.call.declarations import Api
from ledgerd.shadow.agenda import BLOCK_METHODS, MOST_BLOCKS, Agenda
from ledgerd.shadow.asking.questions import HEAD, ROUND, round_reads
from ledgerd.shadow.asking.suspects import Answers, Suspects, size_of
from ledgerd.shadow.finding import Finder, ShadowFinding
from ledgerd.shadow.heads import LONGEST_WORDS, BothNodes, Heads, shortened
from ledgerd.shadow.keeping.record import EqualBlock, ShadowRecord

BATCH_SECONDS = 0.5
"""A block comes every three seconds: most batches lie between two."""
MOST_IN_BATCH = 64
"""Questions of one batch."""

APART_PAUSE, AWAY_PAUSE, LONGEST_AWAY = 0.3, 1.0, 30.0
"""Pauses while both stand apart, and while a node is away: the first, and the longest."""
LAGS_SECONDS = 30
"""Seconds that both may stand at different blocks before the record says so: blocks travel."""


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
        self._both = BothNodes(pair, record, clock)
        self._agenda = Agenda(apis, record)
        self._finder = finder
        self._clock = clock
        self._has_begun = False
        self._heads: Heads | None = None
        """The heads of both nodes, if they were read a moment ago."""
        self._size = 8
        self._failures = 0
        self._suspects = Suspects()
        self._asked: list[AskedRead] = []
        """The questions that were asked since both heads were read."""
        self._asked_head = ""
        """The head whose questions were made."""
        self._round = record.highest // ROUND
        self._kept = 0
        """The first of the latest blocks that both have."""

    # -- one step

    def step(self) -> float:
        try:
            self._begin()
            heads = self._heads or self._both.read_heads()
            self._heads = None
            pause = self._together(heads) if heads.is_one else self._apart(heads)
        except NotComparable as problem:
            self._drop()
            self._has_begun, self._heads = False, None
            self._failures += 1
            self._set_apart(shortened(problem))
            return min(LONGEST_AWAY, AWAY_PAUSE * self._failures)
        self._failures = 0
        self._record_counts()
        return pause

    def _begin(self) -> None:
        if self._has_begun:
            return
        self._agenda.begin(self._both.meet())
        self.record.since = self.record.since or self._second
        self._asked_head = ""
        self._has_begun = True

    @property
    def _second(self) -> int:
        return int(self._clock())

    # -- apart

    def _apart(self, heads: Heads) -> float:
        """Record that both are at different blocks: for a moment, or since one is behind or on a branch. Blocks that
        are irreversible at both have to be equal.
        """
        ours, theirs = heads.ours, heads.theirs
        lower = min(ours.irreversible, theirs.irreversible)
        if lower > self._finder.same_until:
            found = self._finder.parted(ours, theirs, lower)
            if found is not None:
                self._report(found)
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
        if head.id != self._asked_head:
            self._new_head(head)
        self._ask_batch()
        self._heads = after = self._both.read_heads()
        if after.ours.id != head.id or after.theirs.id != head.id:
            self._drop()
            return 0.0
        asked, self._asked = self._asked, []
        self._size = min(self._size + 1, MOST_IN_BATCH)
        self._conclude(AskedRead(HEAD, heads.answers), head)
        for each in asked:
            self._conclude(each, head)
        is_known = self._agenda.has_asked_blocks and head.number > self._agenda.blind_until
        if is_known and not self._suspects.differing_at(head):
            self.record.equal = EqualBlock(head.number, head.id, self._second)
        return 0.0

    def _new_head(self, head: NodeHead) -> None:
        record, agenda = self.record, self._agenda
        self._asked_head = head.id
        first = max(record.highest + 1, head.number - (MOST_BLOCKS if record.highest else ROUND) + 1)
        if head.number <= record.highest:  # both have left a branch, or were away for a moment
            first = max(head.irreversible + 1, head.number - MOST_BLOCKS + 1)
        if not agenda.followed:
            agenda.followed = head.number
            self._kept = max(first_kept(node, head.irreversible) for node in self._both.nodes)
        agenda.seen.move_to(max(self._kept, head.irreversible - IDS + 1), head.irreversible)
        agenda.put_blocks(max(first, self._kept), head.number)
        if not record.first_block:
            record.first_block = head.number
        record.blocks += max(0, head.number - max(record.highest, record.first_block - 1))
        record.highest = max(record.highest, head.number)
        if head.number // ROUND > self._round:
            self._round = head.number // ROUND
            record.rounds += 1
            agenda.put(round_reads(), is_urgent=False)

    def _ask_batch(self) -> None:
        """Ask a batch. The questions of a new head are a batch by themselves, so that it is soon known whether both are
        equal there.
        """
        until = self._clock() + BATCH_SECONDS
        due = deque(self._suspects.due(self._clock()))
        is_urgent = self._agenda.is_urgent
        for _ in range(self._size):
            if is_urgent and not self._agenda.is_urgent:
                break
            read = self._agenda.next(due)
            if read is None:
                break
            self._ask(read)
            if self._clock() >= until:
                break

    def _ask(self, read: Read) -> None:
        try:
            answers = self._both.ask(read)
        except NotComparable:
            self._agenda.put_off(read)
            self._agenda.advance_sweep(read, None)
            raise
        if any(answer.is_missing for answer in answers):
            self._agenda.add_missing(read)
            self._agenda.advance_sweep(read, None)
            return
        value = answers[0].value
        self._agenda.advance_sweep(read, value)
        if read.method in BLOCK_METHODS and self._agenda.put_touched(read, value):
            self._finder.keep_block(read, value)
        self._asked.append(AskedRead(read, answers))

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
                self._agenda.put_again(read)

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
            self._agenda.give_up(read)
            return
        if difference is None:
            self._count_equal(read, answers)
            self._finder.keep_equal(read, answers[0], head)
            if read.method == "get_accounts" and isinstance(answers[0].value, list):
                for account in answers[0].value:
                    self._agenda.seen.add_account(account)
            return
        self.record.questions += 1
        equal_at = self._finder.equal_at(read)
        lasting = self._suspects.add(read, difference, answers, head, equal_at, self._clock())
        if lasting is not None:
            self._report(self._finder.lasting(lasting))

    def _count_equal(self, read: Read, answers: Answers) -> None:
        record = self.record
        record.questions += 1
        record.objects += size_of(answers[0].value)
        record.cleared += self._suspects.clear(read)

    def _report(self, found: ShadowFinding) -> None:
        self._finder.report(found, self.record, self._second)

    def _record_counts(self) -> None:
        record = self.record
        self._agenda.record_position()
        record.doubtful, record.doubt = len(self._suspects), printable(self._suspects.doubt)[:LONGEST_WORDS]
        record.one_sided = list(map(printable, self._pair.one_sided))
