"""What a scenario is made of: operations that are sent, times that are waited for, questions whose answers are kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import NamedTuple

from ledgerd.codec.json.text import Json

OperationText = tuple[str, Mapping[str, object]]
"""The name of an operation, and its fields as in JSON; fields left out are empty."""


class SendOperations(NamedTuple):
    """Operations in one transaction, signed by these accounts; gives the number of its block."""

    operations: tuple[OperationText, ...]
    signers: tuple[str, ...]


class WaitUntil(NamedTuple):
    """Goes on once the time of the head is as late as this, in seconds since 1970; gives that time."""

    time: int


class AskFact(NamedTuple):
    """A question whose exact answer is a fact; gives the result, or nothing where there is an error."""

    api: str
    method: str
    arguments: tuple[Json, ...]


class LookUp(NamedTuple):
    """A question that the scenario itself has: no fact is made of its answer."""

    api: str
    method: str
    arguments: tuple[Json, ...] = ()


ScenarioStep = SendOperations | WaitUntil | AskFact | LookUp
Play = Generator[ScenarioStep, Json, None]


class Cast(NamedTuple):
    """The accounts of a recording: names that no other recording on the same chain has."""

    prefix: str
    initiator: str

    def name(self, who: str) -> str:
        return f"{self.prefix}{who}"


class Scenario(NamedTuple):
    """A program against a node."""

    name: str
    shows: str
    """The behaviour that has no fact yet, in words for the person who records it."""
    seconds: int
    """The duration with a block each three seconds."""
    play: Callable[[Cast], Play]


class Act(NamedTuple):
    """Scenarios that are played at the same time, under the same chain properties."""

    name: str
    properties: Mapping[str, Json]
    scenarios: tuple[Scenario, ...]
