"""The status of the nodes of a local network, over JSON-RPC; what was irreversible must never be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple

from ledgerd.client.address import WEB, NodeAddress
from ledgerd.client.blocking import HttpClient
from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, batch_of, results_of
from ledgerd.node.testnet.plan import HOST, MOST_VALIDATORS, Member
from ledgerd.protocol.types.identifiers import block_number_of_hex
from ledgerd.supervision.threads import thread_pool

ANSWER_SECONDS = 5.0
"""Seconds for an answer; a node that takes longer is shown as one that does not answer."""
LARGEST_ANSWER = 32 << 20
"""Bytes of an answer."""

Question = tuple[str, str, Sequence[object]]

MOST_IRREVERSIBLE = 10_000
"""Irreversible blocks that are remembered; the lowest are forgotten first."""
MOST_FAULTS = 100
"""Faults that are remembered."""

QUESTIONS: tuple[Question, ...] = (
    ("database_api", "get_dynamic_global_properties", []),
    ("node_api", "network", []),
    ("database_api", "get_hardfork_version", []),
    ("validator_api", "get_validators_by_vote", ["", MOST_VALIDATORS]),
)


class MemberStatus(NamedTuple):
    """The status of a node at one time."""

    head: int
    head_id: str
    irreversible: int
    irreversible_id: str
    producer: str
    hardfork: str
    mode: str
    peers: int
    missed: dict[str, int]


class NoAnswer(Exception):
    """A node does not answer, or its answer is not valid."""


def ask(member: Member, questions: Sequence[Question]) -> list[Any]:
    """The results of questions to a node, in one request."""
    body = batch_of([NodeCall(api, method, tuple(arguments)) for api, method, arguments in questions])
    try:
        with closing(HttpClient(NodeAddress(WEB, HOST, member.http_port, "/"))) as client:
            results = results_of(client.post(body, ANSWER_SECONDS, LARGEST_ANSWER).body, len(questions))
    except (OSError, NotAnAnswer, ErrorAnswer) as error:
        raise NoAnswer(f"{member.name}: {error}") from error
    for each in results:
        if isinstance(each, ErrorAnswer):
            raise NoAnswer(f"{member.name}: {each}")
    return list(results)


def inspect(member: Member) -> MemberStatus | None:
    try:
        properties, network, hardfork, validators = ask(member, QUESTIONS)
        return MemberStatus(
            head=properties["head_block_number"],
            head_id=properties["head_block_id"],
            irreversible=properties["last_irreversible_block_num"],
            irreversible_id=properties["last_irreversible_block_id"],
            producer=properties["current_validator"],
            hardfork=hardfork,
            mode=network["mode"],
            peers=network["peers"],
            missed={each["owner"]: int(each["total_missed"]) for each in validators},
        )
    except (NoAnswer, LookupError, ValueError, TypeError):
        return None


class NetworkMonitor:
    """Asks all nodes at once, and remembers irreversible blocks."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._pool = thread_pool(len(members), "watch")
        self._missed_before: dict[str, int] | None = None
        self.statuses: list[MemberStatus | None] = [None] * len(members)
        self.irreversible: dict[int, str] = {}
        self.highest = [0] * len(members)
        """The highest irreversible block of each: the number falls for a while with a switch to another branch, and the
        block stays."""
        self.faults: list[str] = []
        """Irreversible blocks that differ between nodes, or that a node has lost."""

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def inspect(self) -> list[MemberStatus | None]:
        self.statuses = list(self._pool.map(inspect, self._members))
        for number, status in enumerate(self.statuses):
            if status is not None:
                self._remember(number, status)
                if self._missed_before is None:
                    self._missed_before = dict(status.missed)
        return self.statuses

    def _remember(self, number: int, status: MemberStatus) -> None:
        name, block, block_id = self._members[number].name, status.irreversible, status.irreversible_id
        if status.head < self.highest[number]:
            self._blame(f"{name}: its head is block {status.head}, and block {self.highest[number]} was irreversible")
        self.highest[number] = max(block, self.highest[number])
        if block_number_of_hex(block_id) != block:
            return  # the id is not known to the node yet, and says so with zeros (spec 03, 19.1)
        known = self.irreversible.setdefault(block, block_id)
        if known != block_id:
            self._blame(f"{name}: irreversible block {block} is {block_id}, and was {known}")
        while len(self.irreversible) > MOST_IRREVERSIBLE:
            del self.irreversible[min(self.irreversible)]

    def _blame(self, fault: str) -> None:
        if fault not in self.faults and len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)

    def missed(self, number: int) -> int:
        before = self._missed_before or {}
        latest = max((each for each in self.statuses if each is not None), key=lambda each: each.head, default=None)
        if latest is None:
            return 0
        names = self._members[number].validators
        return sum(latest.missed.get(name, 0) - before.get(name, 0) for name in names)

    @property
    def heads(self) -> set[str]:
        return {each.head_id for each in self.statuses if each is not None}

    @property
    def head(self) -> int:
        return max((each.head for each in self.statuses if each is not None), default=0)
