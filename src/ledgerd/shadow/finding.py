"""From answers that differ to a bundle: the blocks around them, and what both answered before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.client.differing import LONGEST_PLACE, LONGEST_VALUE, Difference, shown
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead, Pair
from ledgerd.compare.blocks import id_of
from ledgerd.compare.node import SHOWN, NodeAnswer
from ledgerd.compare.reads import Read
from ledgerd.protocol.secrets import without_keys
from ledgerd.shadow.asking.questions import is_of_consensus
from ledgerd.shadow.asking.suspects import Answers, Suspect
from ledgerd.shadow.keeping.bundles import AskedQuestion, Bundle, Bundles, KeptAnswer, bounded
from ledgerd.shadow.keeping.record import MOST_TOLD, FirstDifference, ShadowRecord

BLOCKS_KEPT = 42
"""Latest blocks that are kept for a bundle: two rounds."""
ANSWERS_KEPT = 512
"""The latest equal answers that are kept."""
KEPT_BYTES = 4 << 20
"""Bytes of the latest equal answers, which are shown if a later one differs."""
BLOCK = "get_block"
WORDS = 400


@dataclass
class ShadowFinding:
    """A difference that has lasted."""

    read: Read
    is_of_consensus: bool
    difference: Difference
    answers: Answers
    head: NodeHead
    first_block: int
    equal_block: int
    before: KeptAnswer | None = None
    blocks: list[Json] = field(default_factory=list)

    @property
    def words(self) -> str:
        return without_keys(f"{self.read.words}: {self.difference.words('ours', 'the other one')}")[:WORDS]


class EqualAnswer(NamedTuple):
    """An answer that both have given equally, and the block at which they did."""

    number: int
    answer: NodeAnswer


class Finder:
    """Keeps what a bundle needs, and writes bundles."""

    def __init__(self, pair: Pair, bundles: Bundles, warn: Callable[[str], None]) -> None:
        self._pair = pair
        self._bundles = bundles
        self._warn = warn
        self._blocks: OrderedDict[int, Json] = OrderedDict()
        self._equal: OrderedDict[str, EqualAnswer] = OrderedDict()
        self._equal_bytes = 0
        self.same_until = 0
        """The highest block that is irreversible at both and has one id."""

    # -- what is kept

    def keep_block(self, read: Read, value: Json) -> None:
        number = read.arguments[0]
        if read.method == BLOCK and isinstance(number, int):
            self._blocks[number] = value
            self._blocks.move_to_end(number)
            if len(self._blocks) > BLOCKS_KEPT:
                self._blocks.popitem(last=False)

    def keep_equal(self, read: Read, answer: NodeAnswer, head: NodeHead) -> None:
        former = self._equal.pop(read.words, None)
        self._equal_bytes += answer.size - (former.answer.size if former else 0)
        self._equal[read.words] = EqualAnswer(head.number, answer)
        while len(self._equal) > ANSWERS_KEPT or self._equal_bytes > KEPT_BYTES:
            _, oldest = self._equal.popitem(last=False)
            self._equal_bytes -= oldest.answer.size

    def equal_at(self, read: Read) -> int:
        known = self._equal.get(read.words)
        return 0 if known is None else known.number

    # -- what is found

    def lasting(self, suspect: Suspect) -> ShadowFinding:
        read, difference, answers = suspect.read, suspect.difference, suspect.answers
        known = self._equal.get(read.words)
        first = max(suspect.equal_at, suspect.first.number - BLOCKS_KEPT)
        return ShadowFinding(
            read,
            is_of_consensus(read, difference, *answers),
            difference,
            answers,
            suspect.last,
            suspect.first.number,
            suspect.equal_at,
            None if known is None else KeptAnswer.of(known.answer),
            [block for number, block in sorted(self._blocks.items()) if first <= number <= suspect.first.number],
        )

    def parted(self, ours: NodeHead, theirs: NodeHead, irreversible: int) -> ShadowFinding | None:
        """The difference where two chains part whose blocks both call irreversible. It is looked at twice, as a node
        may be starting.
        """
        if self._is_same(irreversible, ours, theirs) or self._is_same(irreversible, ours, theirs):
            self.same_until = irreversible
            return None
        low, high = self._lowest(irreversible, ours, theirs), irreversible
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_same(middle, ours, theirs) else (low, middle)
        nodes = self._pair.first, self._pair.second
        ids = [id_of(node, high, head) for node, head in zip(nodes, (ours, theirs), strict=True)]
        read = Read("database_api", BLOCK, [high])
        self.same_until = irreversible
        return ShadowFinding(
            read,
            is_of_consensus=True,
            difference=Difference(f"the id of block {high}", shown(ids[0]), shown(ids[1])),
            answers=self._pair.asked(read),
            head=ours,
            first_block=high,
            equal_block=low,
            blocks=[block for number, block in sorted(self._blocks.items()) if number <= high],
        )

    def _is_same(self, number: int, ours: NodeHead, theirs: NodeHead) -> bool:
        return id_of(self._pair.first, number, ours) == id_of(self._pair.second, number, theirs)

    def _lowest(self, irreversible: int, ours: NodeHead, theirs: NodeHead) -> int:
        """A block below it that is the same, by doubled steps; 0 for the beginning."""
        step = 1
        while step < irreversible:
            if self._is_same(irreversible - step, ours, theirs):
                return irreversible - step
            step *= 2
        return 0

    # -- what is reported

    def report(self, found: ShadowFinding, record: ShadowRecord, now: int) -> None:
        """Count a difference once, write its bundle, and report it."""
        question = printable(found.read.words[:SHOWN])
        if question in record.told or len(record.told) >= MOST_TOLD:
            return
        record.told = [*record.told, question]
        if found.is_of_consensus:
            record.of_consensus += 1
        else:
            record.of_answers += 1
        file = self._bundles.keep(self._bundle(found, record, now))
        kind = "consensus" if found.is_of_consensus else "answers"
        words = printable(found.words)
        if record.first is None:
            record.first = FirstDifference(found.is_of_consensus, words, found.first_block, now, file)
        where = f"; ledgerd shadow report {file}" if file else ""
        self._warn(f"a difference of {kind} from block {found.first_block} on: {words}{where}")

    def _bundle(self, found: ShadowFinding, record: ShadowRecord, now: int) -> Bundle:
        difference = found.difference
        return Bundle(
            is_of_consensus=found.is_of_consensus,
            question=AskedQuestion.of(found.read),
            place=printable(difference.place[:LONGEST_PLACE]),
            first=printable(difference.first[: 2 * LONGEST_VALUE]),
            second=printable(difference.second[: 2 * LONGEST_VALUE]),
            nodes=[record.ours.url, record.theirs.url],
            versions=[record.ours.version, record.theirs.version],
            program=self._bundles.program,
            found_at=datetime.fromtimestamp(now, UTC).isoformat(),
            block=found.head.number,
            block_id=found.head.id,
            first_block=found.first_block,
            equal_block=found.equal_block,
            before=found.before,
            answers=[KeptAnswer.of(each) for each in found.answers],
            blocks=bounded(found.blocks),
            configuration=self._bundles.configuration,
        )
