"""Our node among reference nodes, in both directions: both must arrive at the same head, and nobody be punished."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.p2p.wire.messages import FORWARD
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import SEVEN, SMALL, VIZ, Network
from tests.p2p.mixed_network import MixedNetwork, Ours, Theirs

Copy = Callable[[], Chain]


@pytest.fixture
def behind(grown: Path, tmp_path: Path) -> Iterator[Copy]:
    """Nodes that know the first 112 blocks and no more."""
    chains: list[Chain] = []

    def copy() -> Chain:
        folder = tmp_path / f"behind-{len(chains)}"
        shutil.copytree(grown, folder)
        chains.append(Chain.open(folder, SEVEN, clock=lambda: 0.0, space=SMALL))
        return chains[-1]

    yield copy
    for chain in chains:
        chain.close()


def network_at(others: Network) -> MixedNetwork:
    return MixedNetwork(float(others.chain.head_time), others.keys)


def strikes(node: Ours | Theirs) -> int:
    if isinstance(node, Ours):
        return max((peer.strikes for peer in node.network.core.peers()), default=0)
    return max((record.most_strikes for record in node.network.records.values()), default=0)


def check_harmony(network: MixedNetwork) -> None:
    """All on one head, all past their sync, nobody closed or marked.

    Only a syncing reference marks whoever serves it, once: it asks for the same range after the hello and after the
    reply to its own, and holds against the other that the second answer brings nothing new (spec 04, section 10.4).
    """
    assert len({node.chain.head_id for node in network.nodes.values()}) == 1
    assert network.closed == []
    for node in network.nodes.values():
        assert strikes(node) <= isinstance(node, Theirs)
        mode = node.network.core.mode if isinstance(node, Ours) else node.network.mode
        assert mode == FORWARD


@pytest.mark.parametrize("missing", [1, 2, 90, 500])
def test_ours_catches_up_with_a_pruned_reference(others: Network, behind: Copy, missing: int) -> None:
    others.produce(missing)
    network = network_at(others)
    theirs = network.add_theirs(others.chain, serves_log=True)
    ours = network.add_ours(behind(), network.host_of(theirs))
    network.makers = [theirs]
    network.run(91)
    check_harmony(network)
    assert ours.chain.head_number >= 112 + missing + 29


@pytest.mark.parametrize("missing", [1, 2, 5])
def test_ours_catches_up_with_an_unpruned_reference(others: Network, behind: Copy, missing: int) -> None:
    """It serves what its fork database holds, and that is little."""
    others.produce(missing)
    network = network_at(others)
    theirs = network.add_theirs(others.chain, serves_log=False)
    ours = network.add_ours(behind(), network.host_of(theirs))
    network.makers = [theirs]
    network.run(91)
    check_harmony(network)
    assert ours.chain.head_number >= 112 + missing + 29


@pytest.mark.parametrize("missing", [1, 2, 90, 500])
@pytest.mark.parametrize("serves_log", [True, False])
def test_a_reference_catches_up_with_ours(others: Network, behind: Copy, missing: int, *, serves_log: bool) -> None:
    others.produce(missing)
    network = network_at(others)
    ours = network.add_ours(others.chain)
    theirs = network.add_theirs(behind(), serves_log=serves_log)
    network.connect(theirs, ours)
    network.makers = [ours]
    network.run(91)
    check_harmony(network)
    assert theirs.chain.head_number >= 112 + missing + 29


def test_both_make_blocks_and_pass_on_those_of_others(others: Network, behind: Copy) -> None:
    network = network_at(others)
    first = network.add_theirs(others.chain, serves_log=True)
    middle = network.add_ours(behind(), network.host_of(first))
    last = network.add_theirs(behind(), serves_log=False)
    network.connect(last, middle)
    network.makers = [first, middle, last]
    network.run(121)
    check_harmony(network)
    assert first.chain.head_number >= 112 + 39


def test_transactions_cross_our_node_both_ways(others: Network, behind: Copy) -> None:
    network = network_at(others)
    first = network.add_theirs(others.chain, serves_log=True)
    middle = network.add_ours(behind(), network.host_of(first))
    last = network.add_theirs(behind(), serves_log=True)
    network.connect(last, middle)
    network.makers = [middle]
    network.run(60)
    sent = [others.signed(Transfer(VIZ, VIZ, tokens(amount), "")) for amount in (1, 2)]
    for sender, transaction in zip((first, last), sent, strict=True):
        sender.chain.push_transaction(transaction)
        sender.network.send_transaction(transaction)
    network.run(31)
    check_harmony(network)
    included = {
        transaction.id
        for number in range(112, middle.chain.head_number + 1)
        if (block := middle.chain.block_at(number)) is not None
        for transaction in block.transactions
    }
    assert {transaction.id for transaction in sent} <= included


def test_after_a_cut_line_they_find_each_other_again(others: Network, behind: Copy) -> None:
    network = network_at(others)
    theirs = network.add_theirs(others.chain, serves_log=True)
    network.add_ours(behind(), network.host_of(theirs))
    network.makers = [theirs]
    network.run(60)
    network.cut()
    network.run(241)
    check_harmony(network)


@pytest.mark.parametrize("share", [(2, 1), (1, 2)])
@pytest.mark.parametrize("serves_log", [True, False])
def test_after_a_split_the_longer_branch_wins_on_both_sides(
    others: Network, behind: Copy, share: tuple[int, int], *, serves_log: bool
) -> None:
    network = network_at(others)
    theirs = network.add_theirs(others.chain, serves_log=serves_log)
    ours = network.add_ours(behind(), network.host_of(theirs))
    network.makers = [theirs]
    network.run(31)
    network.cut()
    network.makers = [ours] * share[0] + [theirs] * share[1]
    network.run(30)
    heads = {ours: ours.chain.head_id, theirs: theirs.chain.head_id}
    longer, shorter = (ours, theirs) if share[0] > share[1] else (theirs, ours)
    assert longer.chain.head_number > shorter.chain.head_number
    network.makers = [longer]
    network.run(241)
    check_harmony(network)
    assert longer.chain.is_on_trunk(heads[longer])
    assert not longer.chain.is_on_trunk(heads[shorter])
