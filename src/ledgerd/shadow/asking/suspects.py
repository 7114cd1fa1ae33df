"""Answers that differ, until they are equal again or have differed for so long that it is no matter of a moment.

A node answers with the transactions that wait in it, and two nodes have them at different moments: an answer counts as
different only where it stays so over heads of both, for a round of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgerd.client.differing import Difference
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead
from ledgerd.compare.node import NodeAnswer
from ledgerd.compare.reads import Read

LASTS_BLOCKS = 21
"""Blocks over which an answer has to differ: a round, in which each validator could include a waiting transaction."""
LEAST_HEADS = 3
DOUBTFUL_HEADS = 2
"""Heads at which an answer has differed when it is told of, and no block is signed."""

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0
"""Seconds until a question is asked again."""

MOST_SUSPECTS = 64
"""Questions that are asked again; where more differ at a time, the others come up again by themselves."""

Answers = tuple[NodeAnswer, NodeAnswer]


@dataclass
class Suspect:
    """A question whose answers differ."""

    read: Read
    difference: Difference
    answers: Answers
    first: NodeHead
    """The head at which they differed first."""
    last: NodeHead
    equal_at: int
    """The last block at which both were found equal before."""
    due: float
    pause: float = FIRST_PAUSE
    heads: set[str] = field(default_factory=set)

    @property
    def is_lasting(self) -> bool:
        return len(self.heads) >= LEAST_HEADS and self.last.number - self.first.number >= LASTS_BLOCKS


class Suspects:
    """All answers that differ and may do so for a moment only."""

    def __init__(self) -> None:
        self._by_question: dict[str, Suspect] = {}
        self._others_at = ""
        """The head at which another answer differed last for which there was no room."""

    def __len__(self) -> int:
        return len(self._by_question)

    @property
    def doubt(self) -> str:
        for words, each in self._by_question.items():
            if len(each.heads) >= DOUBTFUL_HEADS:
                return f"{words}: {each.difference.place or 'the answer'}"
        return ""

    def due(self, now: float) -> list[Read]:
        return [each.read for each in self._by_question.values() if each.due <= now]

    def differing_at(self, head: NodeHead) -> bool:
        return self._others_at == head.id or any(each.last.id == head.id for each in self._by_question.values())

    def add(
        self, read: Read, difference: Difference, answers: Answers, head: NodeHead, equal_at: int, now: float
    ) -> Suspect | None:
        """Note that answers differ at a head; the suspect where they have done so for long enough, and it is none any
        more.
        """
        found = self._by_question.get(read.words)
        if found is None:
            if len(self._by_question) >= MOST_SUSPECTS:
                self._others_at = head.id
                return None
            found = Suspect(read, difference, answers, head, head, equal_at, now)
            self._by_question[read.words] = found
        found.difference, found.answers, found.last = difference, answers, head
        if len(found.heads) <= LASTS_BLOCKS:
            found.heads.add(head.id)
        found.due = now + found.pause
        found.pause = min(2 * found.pause, LONGEST_PAUSE)
        if not found.is_lasting:
            return None
        return self._by_question.pop(read.words)

    def clear(self, read: Read) -> bool:
        """Forget what was answered equally now; whether it was in doubt."""
        return self._by_question.pop(read.words, None) is not None


def size_of(value: Json) -> int:
    """The number of records in an answer."""
    return len(value) if isinstance(value, list) else int(value is not None)
