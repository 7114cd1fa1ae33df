"""Branches: whichever way their blocks come, and whoever sends them, the same one wins, with the same state
(spec 03, sections 8 to 10).
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import MerkleRoot
from tests.chain.forks.branches import Branches, Fresh, push_all, spoiled, unknown
from tests.chain.same_state import assert_same_state
from tests.chain.senders import Sender

KEPT_APART = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8, deadline=None)


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


def test_a_longer_branch_that_breaks_a_rule_is_undone(fresh: Fresh, send: Sender) -> None:
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


def test_an_irreversible_block_is_never_undone(fresh: Fresh, send: Sender) -> None:
    branches = Branches(fresh())
    late = branches.line(branches.root, 1, skipped=8)
    node = fresh()
    node.produce(12)
    assert node.chain.irreversible > late[0].number
    before = node.chain.head_id
    send(node, late[0])
    assert node.chain.head_id == before


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


def test_a_competing_block_that_the_producer_discards_is_no_candidate_any_more(fresh: Fresh) -> None:
    branches = Branches(fresh())
    blocks = branches.line(branches.root, 2)
    beside, above = branches.line(branches.root, 2, skipped=2)
    node = fresh()
    push_all(node, [blocks[0], beside])
    node.chain.parts.forks.push(above)  # not weighed: as if it had not had the votes
    node.chain.push_block(blocks[1], instead_of=[above.id])
    assert node.chain.head_id == blocks[1].id
    assert not node.chain.is_known(above.id)
