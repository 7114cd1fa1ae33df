"""Five nodes as processes, 21 validators: a kill, a partition and its healing. At length: `scripts/five_nodes`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.testnet.network import LocalNetworkSettings
from tests.node.testnet.scenario import KeptChain, Ordeal, compare, ordeal
from tests.patience import PATIENCE

BLOCK_TIME = 0.5


def test_nodes_agree_after_a_kill_and_a_partition_and_lose_nothing(tmp_path: Path) -> None:
    with ordeal(tmp_path, LocalNetworkSettings(block_time=BLOCK_TIME, hardfork_after=30)) as hands:
        hands.kill(2)
        hands.blocks(3, PATIENCE)
        assert hands.network.processes[1].has_died
        hands.start(2)
        hands.blocks(2, PATIENCE)

        hands.part((1, 2), (3, 4, 5))
        hands.blocks(8, PATIENCE)
        both_sides_go_on(hands)
        hands.mend()
        hands.all_agree(PATIENCE)
        hands.blocks(2, PATIENCE)
        hands.all_agree(PATIENCE)

        assert [process.restarts for process in hands.network.processes] == [0, 1, 0, 0, 0]
        assert {each.hardfork for each in hands.network.watch.statuses if each} == {"4.1.0"}, (
            "the one that was voted for"
        )


def both_sides_go_on(hands: Ordeal) -> None:
    """They have parted: the heads of the two sides differ."""
    hands.until(lambda: len(hands.network.watch.heads) > 1, PATIENCE, "two branches")


def test_the_comparison_at_the_end_lets_the_number_of_the_last_irreversible_block_fall() -> None:
    compare([KeptChain(["a", "b", "c"], 1), KeptChain(["a", "b", "d"], 2)], {2: "b"})


@pytest.mark.parametrize(
    ("chains", "irreversible", "why"),
    [
        ([KeptChain(["a", "b"], 2), KeptChain(["c"], 1)], {}, "nodes differ"),
        ([KeptChain(["a", "b"], 2), KeptChain(["a", "c", "d"], 3)], {}, "nodes differ"),
        ([KeptChain(["a", ""], 2), KeptChain(["a", ""], 2)], {}, "block 2 is missing"),
        ([KeptChain(["a", "b"], 2)], {1: "c"}, "node 1 lost irreversible block 1"),
        ([KeptChain(["a", "b"], 1), KeptChain(["a", "c"], 1)], {2: "b"}, "node 2 lost irreversible block 2"),
        ([KeptChain(["a", "b"], 1), KeptChain(["a"], 1)], {2: "b"}, "node 2 lost irreversible block 2"),
    ],
)
def test_the_comparison_at_the_end_finds_what_differs(
    chains: list[KeptChain], irreversible: dict[int, str], why: str
) -> None:
    with pytest.raises(AssertionError, match=why):
        compare(chains, irreversible)
