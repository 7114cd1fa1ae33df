"""A validator moves to the next version of the program and back, between real nodes: no slot is missed on the way, and
none is signed twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.lifecycle import FATAL
from ledgerd.node.testnet.network import LocalNetworkSettings, config_text, prepare
from ledgerd.node.testnet.plan import Member, Plan
from tests.node.processes import NodeProcess
from tests.upgrades.next_version import STATE, next_version

SETTINGS = LocalNetworkSettings(nodes=3, validators=15, block_time=0.5)
NOW, COMING = "take-over: NOW stop the node of", re.compile(r"NOW stop .* the next (\d+) slots are of others")
LONG = 8
SIGNED = re.compile(r"Validated block #(\d+) with timestamp (\S+) at time \S+ by (\S+)")


class Walk:
    """A network in which one validator has a node of its own, and this validator."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.plan = prepare(folder, SETTINGS)
        names = tuple(name for member in self.plan.members for name in member.validators)
        self.validator = names[-1]
        self.others, self.old, self.new = (
            member._replace(validators=own)
            for member, own in zip(self.plan.members, (names[:-1], names[-1:], names[-1:]), strict=True)
        )
        self.plan = Plan(self.plan.folder, self.plan.keys, (self.others, self.old, self.new))
        for member in self.plan.members:
            member.config.write_text(config_text(self.plan, member, {}))
        self._stack = stack
        self.nodes: list[NodeProcess] = []

    def start(self, member: Member, *more: str, program: Sequence[str] | None = None) -> NodeProcess:
        words = ("--config-file", str(member.config), "--data-dir", str(member.folder), *more)
        node = self._stack.enter_context(NodeProcess(*words, program=program, folder=self.plan.folder))
        self.nodes.append(node)
        return node

    def record(self, node: NodeProcess) -> dict[str, Any]:
        """What a node says of the validator."""
        return dict(node.call("validator_api", "get_validator_by_account", self.validator))

    def hand_over(self, giver: NodeProcess, taker: NodeProcess) -> None:
        """At a moment that the taker names; of those one that is long enough for a machine that is busy with others."""
        slots = 0
        while slots < LONG:
            taker.wait_for(NOW, 1 + sum(NOW in line for line in taker.lines))
            slots = int(COMING.findall(taker.log)[-1])
        assert giver.stop() == 0
        taker.wait_for("Validated block")

    def signed(self) -> list[tuple[str, str]]:
        """The time and the number of each block of the validator, as the logs of all nodes have them."""
        found = (SIGNED.search(line) for node in self.nodes for line in node.lines)
        return [(each[2], each[1]) for each in found if each is not None and each[3] == self.validator]


@pytest.fixture
def walk(tmp_path: Path) -> Any:
    with ExitStack() as stack:
        yield Walk(tmp_path / "net", stack)


def test_a_validator_goes_to_the_next_version_and_back_without_missing_a_slot(walk: Walk, tmp_path: Path) -> None:
    program = next_version(tmp_path / "next")
    others, old = walk.start(walk.others), walk.start(walk.old)
    old.wait_for("Validated block")
    missed = walk.record(others)["total_missed"]

    new = walk.start(walk.new, f"--validator-take-over={walk.old.folder}", program=program)
    walk.hand_over(old, new)

    refused = walk.start(walk.old)
    assert refused.wait() == FATAL
    assert f"the node of {walk.new.folder} has taken over" in refused.log

    again = walk.start(walk.old, f"--validator-take-over={walk.new.folder}")
    walk.hand_over(new, again)

    assert walk.record(others)["total_missed"] == missed
    signed = walk.signed()
    assert len(signed) >= 3
    assert len({time for time, _ in signed}) == len(signed)
    assert again.stop() == 0
    older = walk.start(walk.new)
    assert older.wait() == FATAL
    assert f"has format {STATE + 1}, and this program knows {STATE}" in older.log
