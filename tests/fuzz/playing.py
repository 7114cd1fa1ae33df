"""Hands the inputs of a seed to a target, each within a bound of processor time; what fails says how to repeat it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any, NamedTuple, NoReturn, Protocol

MOST_SECONDS = 10.0
"""Of processor time for one input: a thousand times what the slowest of them needs."""

SHOWN = 1_000
"""Characters of an input that an error shows; its seed brings back all of it."""


class TooSlow(BaseException):
    """An input took more than its bound; nothing on the way may take this for an error of the input."""


class Target(Protocol):
    """What is given inputs: it makes them out of chance, and raises where something does not hold."""

    def make(self, random: Random) -> Any:
        """An input; its `repr` says all of it."""

    def survive(self, given: Any) -> bool:
        """Whether the input was accepted."""


class Played(NamedTuple):
    """What came of a seed."""

    done: int
    accepted: int | None = None
    """How many of the inputs were accepted, where that is a question."""


def play(target: Target, seed: int, count: int) -> Played:
    """So many inputs of a seed, which are the same each time."""
    random, accepted = Random(seed), 0  # noqa: S311 - the seed is the point
    with _bound() as begin:
        for place in range(count):
            given = target.make(random)
            begin()
            try:
                accepted += target.survive(given)
            except BaseException as problem:
                problem.add_note(f"input {place} of seed {seed}: {given!r}"[:SHOWN])
                raise
    return Played(count, accepted)


@contextmanager
def _bound() -> Iterator[Callable[[], object]]:
    """Hands out what begins the time of an input."""
    former = signal.signal(signal.SIGPROF, _too_slow)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def _too_slow(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TooSlow(f"more than {MOST_SECONDS:.0f} seconds of processor time")
