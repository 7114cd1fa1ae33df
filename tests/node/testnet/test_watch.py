"""The status of nodes, and faults such as a reverted irreversible block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.testnet import watch as module
from ledgerd.node.testnet.plan import Member, new_keys, plan_of
from ledgerd.node.testnet.watch import MemberStatus, NetworkMonitor, NoAnswer, ask, inspect


def sight(head: int, irreversible: int, mark: str = "00", **missed: int) -> MemberStatus:
    return MemberStatus(
        head=head,
        head_id=f"{head:08x}{mark * 16}",
        irreversible=irreversible,
        irreversible_id=f"{irreversible:08x}{mark * 16}",
        producer="validator-01",
        hardfork="3.2.0",
        mode="forward",
        peers=1,
        missed={name.replace("_", "-"): count for name, count in missed.items()},
    )


class Nodes:
    """Two nodes that say what a test wants."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: dict[int, MemberStatus | None] = {}
        self.members = plan_of(folder, new_keys(2, 4)).members
        monkeypatch.setattr(module, "inspect", lambda member: self.said.get(member.number))
        self.watch = NetworkMonitor(self.members)

    def say(self, first: MemberStatus | None, second: MemberStatus | None) -> NetworkMonitor:
        self.said = {1: first, 2: second}
        self.watch.inspect()
        return self.watch


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    nodes = Nodes(tmp_path, monkeypatch)
    yield nodes
    nodes.watch.close()


def test_nodes_on_one_head_agree(nodes: Nodes) -> None:
    watch = nodes.say(sight(9, 5), sight(9, 5))

    assert (len(watch.heads), watch.head, watch.faults) == (1, 9, [])
    assert watch.irreversible == {5: sight(9, 5).irreversible_id}


def test_a_node_that_does_not_answer_is_no_fault(nodes: Nodes) -> None:
    watch = nodes.say(sight(9, 5), None)

    assert (watch.heads, watch.faults) == ({sight(9, 5).head_id}, [])


def test_an_irreversible_block_that_differs_is_a_fault(nodes: Nodes) -> None:
    nodes.say(sight(9, 5), None)
    watch = nodes.say(sight(10, 6), sight(9, 5, "ff"))

    assert watch.faults == [
        f"node-2: irreversible block 5 is {sight(9, 5, 'ff').irreversible_id}, and was {sight(9, 5).irreversible_id}"
    ]


def test_a_node_whose_head_goes_back_below_an_irreversible_block_is_a_fault(nodes: Nodes) -> None:
    nodes.say(sight(9, 5), sight(9, 5))
    watch = nodes.say(sight(4, 3), sight(9, 5))

    assert watch.faults == ["node-1: its head is block 4, and block 5 was irreversible"]


def test_a_number_that_falls_with_a_switch_to_another_branch_is_no_fault(nodes: Nodes) -> None:
    """It is part of the state: fewer validators have built on the new branch yet, which has the irreversible block."""
    nodes.say(sight(9, 5), sight(9, 5))
    nodes.say(sight(10, 4), sight(9, 5))
    watch = nodes.say(sight(11, 5), sight(9, 5))

    assert (watch.faults, watch.highest) == ([], [5, 5])


def test_what_is_remembered_is_bounded(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IRREVERSIBLE", 3)
    for number in range(1, 9):
        watch = nodes.say(sight(9, number), sight(9, 1, "ff"))

    assert sorted(watch.irreversible) == [6, 7, 8]
    assert len(watch.faults) == 1, "the same is not told again"


def test_an_id_that_the_node_does_not_know_yet_is_not_remembered(nodes: Nodes) -> None:
    watch = nodes.say(sight(9, 5)._replace(irreversible_id="00" * 20), None)

    assert watch.irreversible == {}


def test_missed_slots_count_from_the_first_look_and_by_who_knows_most(nodes: Nodes) -> None:
    nodes.say(sight(9, 5, validator_01=3, validator_02=1), None)
    watch = nodes.say(sight(12, 5, validator_01=5, validator_02=1), sight(11, 5, validator_01=4, validator_02=1))

    assert [watch.missed(0), watch.missed(1)] == [2, 0]


def test_a_node_that_does_not_run_has_no_status(tmp_path: Path) -> None:
    nobody: Member = plan_of(tmp_path, new_keys(1, 1)).members[0]

    assert inspect(nobody) is None
    with pytest.raises(NoAnswer, match="node-1"):
        ask(nobody, [("database_api", "get_config", [])])
