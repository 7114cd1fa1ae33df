"""Branches: whichever way their blocks come, and whoever sends them, the same one wins, with the same state
(spec 03, sections 8 to 10).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.chain.forks.database import BlockTooOld, UnlinkableBlock
from ledgerd.chain.forks.outcome import (
    AlreadyKnown,
    Applied,
    BranchRefused,
    OnBranch,
    Outcome,
    Refused,
    Switched,
    TooOld,
    Unlinked,
)
from ledgerd.chain.ledger.skip import Skip
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.block import Block, BlockHeader, sign_block
from ledgerd.protocol.identifiers import MerkleRoot
from ledgerd.protocol.operations.transfers import Transfer
from tests.chain.networks import ALICE, OTHERS, SEVEN, VIZ, Network, key_of, start_seven
from tests.chain.same_state import assert_same_state
from tests.chain.senders import SENDERS, Sender, by_client, by_peer, directly

Fresh = Callable[[], Network]

KEPT_APART = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seven") / "base"
    network = start_seven(folder)
    network.chain.close()
    return folder


@pytest.fixture
def fresh(base: Path, tmp_path: Path) -> Iterator[Fresh]:
    """Nodes that stand at the same block, as many as a test wants."""
    numbers = count()
    opened: list[Network] = []

    def make() -> Network:
        folder = tmp_path / str(next(numbers))
        shutil.copytree(base, folder)
        opened.append(Network(folder, SEVEN))
        opened[-1].keys |= {name: key_of(name) for name in OTHERS}
        return opened[-1]

    yield make
    for network in opened:
        network.chain.close()


class Branches:
    """Makes blocks on any block that it has made before, by standing its chain there."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.trunk = network.chain.parts.trunk
        self.root = network.chain.head_id
        self.paths: dict[bytes, list[Block]] = {self.root: []}

    def grow(self, parent: bytes, skipped: int = 0, memo: str = "") -> Block:
        chain = self.network.chain
        while self.trunk.head_id != self.root:
            self.trunk.pop()
        for block in self.paths[parent]:
            self.trunk.apply(block, Skip.NOTHING)
        if memo:
            self.network.send(Transfer(VIZ, ALICE, tokens(1), memo))
        block = self.network.make(skipped)
        chain.parts.pending.drop_session()
        chain.parts.pending.transactions.clear()
        self.paths[block.id] = [*self.paths[parent], block]
        return block

    def line(self, parent: bytes, length: int, skipped: int = 0, memo: str = "") -> list[Block]:
        """A branch, whose first block skips so many slots."""
        blocks = [self.grow(parent, skipped, memo)]
        for _ in range(length - 1):
            blocks.append(self.grow(blocks[-1].id, 0, memo))
        return blocks


@pytest.fixture(params=SENDERS)
def send(request: pytest.FixtureRequest) -> Sender:
    """Each of those who give a chain its blocks."""
    return SENDERS[request.param]


def push_all(network: Network, blocks: list[Block], send: Sender = directly) -> None:
    for block in blocks:
        send(network, block)


def outcome(network: Network, block: Block) -> Outcome:
    return network.chain.push_block(block)


def test_the_longer_branch_wins_and_the_shorter_one_leaves_no_trace(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    short = branches.line(branches.root, 2, memo="short")
    long = branches.line(branches.root, 3, skipped=1, memo="long")
    node, straight = fresh(), fresh()
    push_all(node, [*short, *long], send)
    push_all(straight, long)
    assert node.chain.head_id == long[-1].id == straight.chain.head_id
    waiting = {each.id for each in node.chain.waiting}
    assert waiting == {each.id for each in short[0].transactions}, "the second one refers to the block before it"
    node.chain.parts.pending.drop_session()
    assert_same_state(node.chain, straight.chain)


def test_of_two_branches_of_equal_length_and_weight_the_first_stays(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    one = branches.line(branches.root, 2)
    two = branches.line(branches.root, 2, skipped=4)
    node = fresh()
    push_all(node, [*one, *two], send)
    assert node.chain.head_id == one[-1].id


def test_blocks_that_wait_for_their_parents_follow_at_once(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    blocks = branches.line(branches.root, 4)
    node = fresh()
    push_all(node, [blocks[3], blocks[1], blocks[2]], send)
    assert node.chain.head_id == branches.root
    send(node, blocks[0])
    assert node.chain.head_id == blocks[3].id


def test_a_block_far_ahead_is_not_kept(fresh: Fresh, send: Sender) -> None:
    node = fresh()
    far = Block(
        (node.chain.head_number + 500).to_bytes(4, "big") + bytes(16),  # type: ignore[arg-type]
        node.chain.head_time + 1500,
        "viz",
        MerkleRoot(bytes(20)),
        (),
        bytes(65),  # type: ignore[arg-type]
        (),
    )
    send(node, far)
    assert not node.chain.is_known(far.id)


def unknown(node: Network) -> Block:
    """A block below the head whose parent nobody has."""
    return Block(
        (node.chain.head_number - 3).to_bytes(4, "big") + bytes(16),  # type: ignore[arg-type]
        node.chain.head_time,
        "viz",
        MerkleRoot(bytes(20)),
        (),
        bytes(65),  # type: ignore[arg-type]
        (),
    )


def test_a_block_of_an_unknown_branch_below_the_head_is_unlinkable(fresh: Fresh, send: Sender) -> None:
    node = fresh()
    stranger = unknown(node)
    before = node.chain.head_id
    send(node, stranger)
    assert node.chain.head_id == before
    assert not node.chain.is_known(stranger.id)


def test_a_known_block_changes_nothing(fresh: Fresh, send: Sender) -> None:
    node = fresh()
    (block,) = node.produce()
    send(node, block)
    assert node.chain.head_id == block.id


def spoiled(network: Network, block: Block) -> Block:
    """The same block with a transaction root that is not its transactions', signed anew by its producer."""
    header = BlockHeader(block.previous, block.timestamp, block.validator, MerkleRoot(bytes([7] * 20)), ())
    return sign_block(header, (), network.keys[block.validator])  # type: ignore[index]


def test_a_longer_branch_that_breaks_a_rule_is_left_again(fresh: Fresh, send: Sender) -> None:
    maker = fresh()
    branches = Branches(maker)
    good = branches.line(branches.root, 2, memo="good")
    other = branches.line(branches.root, 2, skipped=1)
    bad = spoiled(maker, branches.grow(other[-1].id))
    node, straight = fresh(), fresh()
    push_all(straight, good)
    push_all(node, [*good, *other], send)
    send(node, bad)
    assert node.chain.head_id == good[-1].id
    assert not node.chain.is_known(bad.id)
    assert_same_state(node.chain, straight.chain)
    node.produce(3)


def test_an_irreversible_block_is_never_taken_off(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    late = branches.line(branches.root, 1, skipped=8)
    node = fresh()
    node.produce(12)
    assert node.chain.irreversible > late[0].number
    before = node.chain.head_id
    send(node, late[0])
    assert node.chain.head_id == before


def test_a_branch_that_leaves_the_trunk_below_a_forgotten_candidate_can_still_win(fresh: Fresh, send: Sender) -> None:
    """The candidates were begun anew at the head: whoever sends the branch, it is linked to the trunk again."""
    branches = Branches(fresh())
    trunk = branches.line(branches.root, 3)
    long = branches.line(trunk[0].id, 4, skipped=1)
    node = fresh()
    push_all(node, trunk)
    node.chain.parts.linking.restart()
    push_all(node, long, send)
    assert node.chain.head_id == long[-1].id


def test_branches_survive_a_restart(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    short = branches.line(branches.root, 2)
    long = branches.line(branches.root, 3, skipped=1)
    node = fresh()
    push_all(node, short, send)
    node.reopen()
    push_all(node, long, send)
    assert node.chain.head_id == long[-1].id


@KEPT_APART
@given(data=st.data())
def test_any_order_of_arrival_leads_to_the_same_head_and_state(fresh: Fresh, send: Sender, data: st.DataObject) -> None:
    """The winner is the longest branch, and no other has more producers behind it."""
    branches = Branches(fresh())
    winner = branches.line(branches.root, 4)
    tree = list(winner)
    for _ in range(data.draw(st.integers(1, 4), label="branches")):
        parent = data.draw(st.sampled_from([branches.root, *(block.id for block in tree[:2])]), label="parent")
        room = 3 - len(branches.paths[parent])
        length = data.draw(st.integers(1, max(1, room)), label="length")
        skipped = data.draw(st.integers(1, 3), label="skipped")
        tree += [block for block in branches.line(parent, length, skipped) if block not in tree]
    node = fresh()
    arriving = data.draw(st.permutations(tree), label="order")
    push_all(node, arriving, send)
    push_all(node, arriving, send)
    assert node.chain.head_id == winner[-1].id
    straight = fresh()
    push_all(straight, winner)
    assert_same_state(node.chain, straight.chain)


# -- what is answered


def test_the_outcome_says_whether_a_block_was_applied_or_made_the_chain_switch(fresh: Fresh) -> None:
    branches = Branches(fresh())
    short = branches.line(branches.root, 2)
    long = branches.line(branches.root, 3, skipped=1)
    node = fresh()
    assert [outcome(node, block) for block in short] == [Applied(), Applied()]
    assert [outcome(node, block) for block in long] == [OnBranch(), OnBranch(), Switched()]
    assert outcome(node, long[0]) == AlreadyKnown()
    assert outcome(node, short[0]) == OnBranch()


def test_the_outcome_says_why_a_block_has_no_place(fresh: Fresh) -> None:
    branches = Branches(fresh())
    blocks = branches.line(branches.root, 4)
    (stray,) = branches.line(branches.root, 1, skipped=8)
    node = fresh()
    assert outcome(node, blocks[3]) == Unlinked(-4, is_kept=True)
    assert outcome(node, blocks[3]).violation is None
    push_all(node, blocks)
    node.produce(12)
    assert node.chain.irreversible > stray.number
    late = outcome(node, stray)
    assert isinstance(late, TooOld)
    assert isinstance(late.violation, BlockTooOld)
    dead = outcome(node, unknown(node))
    assert isinstance(dead, Unlinked)
    assert (dead.behind, dead.is_kept, dead.has_parent) == (2, False, False)
    assert isinstance(dead.violation, UnlinkableBlock)


def test_the_outcome_names_the_rule_that_a_block_or_its_branch_breaks(fresh: Fresh) -> None:
    maker = fresh()
    branches = Branches(maker)
    first = branches.grow(branches.root)
    bad = spoiled(maker, first)
    node = fresh()
    refused = outcome(node, bad)
    assert isinstance(refused, Refused)
    assert "merkle" in str(refused.violation)
    assert not node.chain.is_known(bad.id)

    good = branches.line(branches.root, 2)
    other = branches.line(branches.root, 2, skipped=1)
    tip = spoiled(maker, branches.grow(other[-1].id))
    push_all(node, [*good, *other])
    left = outcome(node, tip)
    assert isinstance(left, BranchRefused)
    assert (left.number, left.violation, left.has_moved) == (tip.number, None, False)


def test_a_rival_that_is_given_up_for_a_block_is_no_candidate_any_more(fresh: Fresh) -> None:
    branches = Branches(fresh())
    blocks = branches.line(branches.root, 2)
    beside, above = branches.line(branches.root, 2, skipped=2)
    node = fresh()
    push_all(node, [blocks[0], beside])
    node.chain.parts.forks.push(above)  # not weighed: as if it had not had the votes
    node.chain.push_block(blocks[1], instead_of=[above.id])
    assert node.chain.head_id == blocks[1].id
    assert not node.chain.is_known(above.id)


def test_who_sends_a_block_that_breaks_a_rule_is_told_or_charged(fresh: Fresh) -> None:
    maker = fresh()
    bad = spoiled(maker, maker.make())
    node = fresh()
    direct = outcome(node, bad).violation
    answer = by_client(node, bad)
    assert (type(answer), str(answer)) == (type(direct), str(direct))
    assert by_peer(node, bad).strikes == 1
    (good,) = maker.produce()
    assert by_client(node, good) is None
    assert by_peer(node, good).strikes == 0
