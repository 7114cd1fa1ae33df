"""A whole recording: what it will do, the acts one after the other, and the files at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ledgerd.client.asked import AskedNode
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.recording.journal import RecordingJournal
from ledgerd.recording.network import RecordedNetwork
from ledgerd.recording.playing import Playing, play
from ledgerd.recording.preparing import ACCOUNTS, key_of_player, properties_of
from ledgerd.recording.scenarios import ACTS
from ledgerd.recording.steps import Act, Cast, Scenario
from ledgerd.recording.writing import Writing

PREFIX = "r{number}"


def scenarios() -> dict[str, Scenario]:
    """All of them, by name."""
    return {each.name: each for act in ACTS for each in act.scenarios}


def chosen_acts(only: Sequence[str]) -> list[Act]:
    """The acts with the scenarios of these names, or with all."""
    unknown = [name for name in only if name not in scenarios()]
    if unknown:
        raise OperatorError(f"there is no scenario {unknown[0]}, but {', '.join(scenarios())}")
    acts = [
        act._replace(scenarios=tuple(each for each in act.scenarios if not only or each.name in only)) for act in ACTS
    ]
    return [act for act in acts if act.scenarios]


def plan(acts: Sequence[Act]) -> Iterator[str]:
    """The steps in words, and how long they take on a chain whose time cannot be moved."""
    seconds = 0
    for act in acts:
        for each in act.scenarios:
            yield f"{act.name}, {each.name}: {each.shows} (about {_minutes(each.seconds)})"
        seconds += max(each.seconds for each in act.scenarios) + ACCOUNTS.seconds
    yield f"all together about {_minutes(seconds)} at a block each three seconds"


def _minutes(seconds: int) -> str:
    return f"{-(-seconds // 60)} min"


class Recording:
    """A recording on a network, kept in a folder."""

    def __init__(self, node: AskedNode, folder: Path, initiator: tuple[str, PrivateKey]) -> None:
        name, key = initiator
        self._folder = folder
        self._network = RecordedNetwork(node, lambda who: key if who == name else key_of_player(who))
        self._journal = RecordingJournal(folder)
        self._initiator = name

    def run(self, acts: Sequence[Act], wait: Callable[[float], None], report: Callable[[str], None]) -> int:
        """Play all that is not played yet, then write the files; the last block that is in them."""
        cast = self._cast()
        report(f"the node runs version {self._network.version}; accounts begin with {cast.prefix}")
        if self._network.can_travel:
            report("its clock can be moved: nothing is waited for")
        self._play([ACCOUNTS], cast, wait, report)
        for act in acts:
            self._play([properties_of(act.name, act.properties)], cast, wait, report)
            self._play(act.scenarios, cast, wait, report)
        return Writing(self._folder, self._network, report).write(self._journal)

    def _play(
        self, played: Sequence[Scenario], cast: Cast, wait: Callable[[float], None], report: Callable[[str], None]
    ) -> None:
        play([Playing(each, cast, self._network, self._journal) for each in played], self._network, wait, report)

    def _cast(self) -> Cast:
        """That with which the recording was begun; it goes on only on the same chain."""
        chain = self._network.chain_id.hex()
        begun = self._journal.begun
        if begun is None:
            begun = {"chain": chain, "prefix": PREFIX.format(number=self._network.head.number)}
            self._journal.add({"begun": begun})
        if begun["chain"] != chain:
            raise OperatorError(f"{self._folder} has a recording of another chain: name another folder")
        return Cast(begun["prefix"], self._initiator)
