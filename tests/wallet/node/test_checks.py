"""Nodes that lie: each lie has its own error, and is found before anything could be signed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.wallet.errors import HeadWentBack, NodesDisagree, NodeUnreachable, OtherChain, WalletError, WrongClock
from ledgerd.wallet.node.checks import SeenChain, chain_status, checked_status, file_of, forget, recall
from ledgerd.wallet.node.client import NodeClient
from tests.wallet.nodes import FakeNode, serving

NOW = 1_700_000_000
CHAIN, OTHER = "aa" * 32, "bb" * 32


def block_id(number: int, branch: int = 0) -> str:
    return (number.to_bytes(4, "big") + bytes([branch] * 16)).hex()


def node_at(head: int, *, chain: str = CHAIN, late: int = 0, branch: int = 0) -> FakeNode:
    return FakeNode(
        get_config={"CHAIN_ID": chain},
        get_dynamic_global_properties={
            "head_block_id": block_id(head, branch),
            "head_block_number": head,
            "time": time_text(NOW - late),
            "last_irreversible_block_num": head - 10,
        },
        get_block_header=lambda number: {"previous": block_id(number - 1, branch)},
    )


@pytest.fixture
def wallet(tmp_path: Path) -> Path:
    path = tmp_path / "wallet.json"
    path.touch()
    return path


@pytest.fixture
def nodes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def check(stack: ExitStack, wallet: Path, *nodes: FakeNode, seconds: float = 60, now: int = NOW) -> ChainStatus:
    clients = [stack.enter_context(NodeClient(stack.enter_context(serving(each)).url)) for each in nodes]
    return checked_status(clients, wallet, seconds, lambda: now)


def test_the_first_node_decides_the_chain_and_another_chain_is_refused(nodes: ExitStack, wallet: Path) -> None:
    assert check(nodes, wallet, node_at(100)).head_number == 100
    with pytest.raises(OtherChain, match=r"of the chain b{16}\.\.\., and this wallet is used with a{16}\.\.\."):
        check(nodes, wallet, node_at(101, chain=OTHER))
    assert recall(wallet) == SeenChain(CHAIN, 100, NOW)

    forget(wallet)

    assert check(nodes, wallet, node_at(101, chain=OTHER)).chain_id.hex() == OTHER


@pytest.mark.parametrize(("late", "side"), [(61, "behind"), (-61, "ahead of")])
def test_a_head_that_is_a_minute_off_the_clock_is_refused(nodes: ExitStack, wallet: Path, late: int, side: str) -> None:
    with pytest.raises(WrongClock, match=f"61 seconds {side} the clock"):
        check(nodes, wallet, node_at(100, late=late))
    assert not file_of(wallet).exists()
    check(nodes, wallet, node_at(100, late=late - (1 if late > 0 else -1)))
    check(nodes, wallet, node_at(100, late=late), seconds=100)


def test_a_head_below_the_last_seen_is_refused(nodes: ExitStack, wallet: Path) -> None:
    check(nodes, wallet, node_at(100))
    check(nodes, wallet, node_at(100))
    with pytest.raises(HeadWentBack, match="is block 99, but block 100 was seen"):
        check(nodes, wallet, node_at(99))


def test_one_node_that_lies_about_its_head_does_not_have_honest_ones_refused(nodes: ExitStack, wallet: Path) -> None:
    """It is remembered as far as the chain can have grown since the last time."""
    check(nodes, wallet, node_at(100))
    check(nodes, wallet, node_at(4_000_000_000, late=-30), now=NOW + 30)
    assert recall(wallet) == SeenChain(CHAIN, 110, NOW + 30)
    check(nodes, wallet, node_at(110, late=-30), now=NOW + 30)
    with pytest.raises(HeadWentBack):
        check(nodes, wallet, node_at(109, late=-30), now=NOW + 30)


def test_what_two_nodes_agree_on_is_believed_although_one_has_lied_before(nodes: ExitStack, wallet: Path) -> None:
    check(nodes, wallet, node_at(4_000_000_000))
    with pytest.raises(HeadWentBack, match="ask two nodes"):
        check(nodes, wallet, node_at(100))
    with pytest.raises(NodesDisagree):
        check(nodes, wallet, node_at(100), node_at(4_000_000_001))

    check(nodes, wallet, node_at(100), node_at(98))

    assert recall(wallet) == SeenChain(CHAIN, 100, NOW)
    check(nodes, wallet, node_at(1_000), node_at(998))
    assert recall(wallet).head == 998, "one of them alone"


def test_two_nodes_have_to_agree_on_what_is_irreversible(nodes: ExitStack, wallet: Path) -> None:
    check(nodes, wallet, node_at(100), node_at(103))
    with pytest.raises(NodesDisagree, match="different irreversible blocks 91"):
        check(nodes, wallet, node_at(100), node_at(101, branch=7))
    with pytest.raises(OtherChain):
        check(nodes, wallet, node_at(100), node_at(100, chain=OTHER))


def test_a_node_on_a_branch_of_its_own_cannot_call_little_irreversible(nodes: ExitStack, wallet: Path) -> None:
    liar = node_at(100, branch=7)
    standing: dict[str, Any] = liar.answers["get_dynamic_global_properties"]  # type: ignore[assignment]
    standing["last_irreversible_block_num"] = 0
    with pytest.raises(NodesDisagree, match="different irreversible blocks 91"):
        check(nodes, wallet, liar, node_at(101))
    short = node_at(20, branch=7)
    with pytest.raises(NodesDisagree, match="of one time and of very different numbers"):
        check(nodes, wallet, short, node_at(101))
    behind = node_at(85, branch=7)
    with pytest.raises(NodesDisagree, match="different irreversible blocks 85"):
        check(nodes, wallet, behind, node_at(101))
    check(nodes, wallet, node_at(85), node_at(101))


def test_what_does_not_answer_as_a_node_does_is_none(nodes: ExitStack, wallet: Path) -> None:
    good: dict[str, Any] = node_at(1).answers["get_dynamic_global_properties"]  # type: ignore[assignment]
    for broken in ({}, {**good, "time": "soon"}, {**good, "head_block_id": "zz"}, {**good, "head_block_number": None}):
        node = node_at(1)
        node.answers["get_dynamic_global_properties"] = broken
        with pytest.raises(NodeUnreachable, match="does not answer as a node does"):
            check(nodes, wallet, node)
    with pytest.raises(NodeUnreachable):
        chain_status(NodeClient("http://127.0.0.1:9"))


def test_without_a_wallet_nothing_is_remembered(nodes: ExitStack, tmp_path: Path) -> None:
    check(nodes, tmp_path / "none.json", node_at(100))

    assert list(tmp_path.iterdir()) == []


def test_a_damaged_memory_is_told(wallet: Path) -> None:
    file_of(wallet).write_text("{")
    with pytest.raises(WalletError, match="forget-chain"):
        recall(wallet)
