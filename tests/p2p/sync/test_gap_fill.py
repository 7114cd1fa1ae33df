"""Blocks asked for by number: from our head, from further below when they do not link, and along another branch
(spec 04, section 13).
"""

from __future__ import annotations

from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Message,
    range_reply_frame,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import Network
from tests.p2p.scripted_talk import Talk


def asked(messages: list[Message]) -> list[tuple[int, ...]]:
    return [message.block_nums for message in messages if isinstance(message, GapFillRequest)]


def status_of(block: Block) -> ForkStatus:
    return ForkStatus(0, block.id, block.number, NO_BLOCK, 0, 0, block.number, Mode.FORWARD)


def two_branches(talk: Talk, others: Network, ours: int, theirs: int, validators: int = 3) -> list[Block]:
    """Our node on a branch of some validators, and the blocks of the others' branch; neither is irreversible."""
    names = sorted(others.keys.keys() - {"committee"})
    for block in made_by(others, names[:validators], ours):
        talk.chain.push_block(block).or_raise()
    for _ in range(ours):
        others.chain.pop_block()
    branch = made_by(others, names[validators:], theirs)
    talk.now = float(max(branch[-1].timestamp, talk.chain.head_time))
    return branch


def made_by(others: Network, names: list[AccountName], count: int) -> list[Block]:
    """Blocks of the slots of some of the validators."""
    blocks: list[Block] = []
    while len(blocks) < count:
        skipped = next(n for n in range(20) if others.chain.scheduled_at(1 + n) in names)
        blocks += others.produce(1, skipped=skipped)
    return blocks


def test_a_peer_that_tells_of_a_far_higher_head_is_asked_at_once(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    blocks = others.produce(5)
    talk.now += 15
    assert asked(talk.say(peer, status_of(blocks[-1]))) == [tuple(range(112, 118))]


def test_a_head_that_is_just_being_pushed_is_not_asked_for(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    blocks = others.produce(1)
    talk.now += 3
    assert asked(talk.say(peer, status_of(blocks[-1]))) == []


def test_blocks_that_do_not_link_are_asked_for_again_from_the_irreversible_one(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    branch = two_branches(talk, others, ours=3, theirs=10)
    assert asked(talk.say(peer, status_of(branch[-1]))) == [tuple(range(115, 123))]

    answers = talk.say(peer, GapFillReply(tuple(branch[2:])))

    lib = talk.chain.irreversible
    assert asked(answers) == [tuple(range(lib, 123))]
    talk.say(peer, GapFillReply(tuple(branch)))
    assert talk.chain.head_id == branch[-1].id


def test_a_peer_that_serves_no_ranges_is_asked_block_by_block_at_once(talk: Talk, others: Network) -> None:
    """As the reference does with what its fork database has lost, when it is not pruned (spec 04, section 5, quirk)."""
    blocks = others.produce(20)
    talk.now += 63
    tip = blocks[-1]
    peer = talk.meet(head_block_num=tip.number, head_block_id=tip.id, dlt_latest_block=tip.number)
    answers = talk.say(peer, BlockRangeReply((), 0, False))
    assert asked(answers) == [tuple(range(112, 133))]
    talk.say(peer, GapFillReply(tuple(blocks)))
    assert talk.chain.head_id == tip.id
    assert talk.is_in(Mode.FORWARD)
    assert talk.network.core[peer].strikes == 0


def test_above_the_range_of_a_pruned_peer_blocks_are_asked_for_singly_at_once(talk: Talk, others: Network) -> None:
    """Its ranges end at its irreversible block, which it says is the last (spec 04, section 10.3)."""
    blocks = others.produce(20)
    talk.now += 63
    tip = blocks[-1]
    peer = talk.meet(head_block_num=tip.number, head_block_id=tip.id, dlt_latest_block=127, dlt_earliest_block=100)
    before = len(talk.sent[peer])
    talk.send_bytes(peer, range_reply_frame([block.packed for block in blocks[:15]], 0, is_last=True))
    assert talk.chain.head_number == 127
    assert asked(talk.sent[peer][before:]) == [tuple(range(127, 133))]
    talk.say(peer, GapFillReply(tuple(blocks[14:])))
    assert talk.chain.head_id == tip.id


def test_a_push_of_a_branch_beside_ours_leads_to_all_of_that_branch(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    branch = two_branches(talk, others, ours=6, theirs=7)
    assert talk.say(peer, BlockReply(branch[-1], 0, True)) == [GetBlock(branch[-2].number, NO_BLOCK)]

    answers = talk.say(peer, BlockReply(branch[-2], 0, True))

    lib = talk.chain.irreversible
    assert asked(answers) == [tuple(range(lib, branch[-1].number + 1))]
    talk.say(peer, GapFillReply(tuple(branch)))
    assert talk.chain.head_id == branch[-1].id


def test_a_peer_whose_blocks_never_link_is_not_asked_over_and_over(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    branch = two_branches(talk, others, ours=3, theirs=10)
    talk.say(peer, status_of(branch[-1]))
    talk.say(peer, GapFillReply(tuple(branch[2:])))
    assert asked(talk.say(peer, GapFillReply(tuple(branch[2:])))) == []
    before = len(asked(talk.sent[peer]))
    talk.wait(60)
    assert len(asked(talk.sent[peer])) - before <= 60 // 5


def test_a_branch_longer_than_a_request_is_walked_along(talk: Talk, others: Network) -> None:
    """A pruned peer serves ranges up to its irreversible block only: above, there is no other way."""
    peer = talk.meet()
    branch = two_branches(talk, others, ours=120, theirs=135)
    tip, served = branch[-1], {block.number: block for block in branch}
    answers = talk.say(peer, ForkStatus(0, tip.id, tip.number, NO_BLOCK, 107, 1, 107, Mode.FORWARD))
    while answers:
        if asked(answers):
            answers = talk.say(peer, GapFillReply(tuple(served[n] for n in asked(answers)[-1] if n in served)))
        elif any(isinstance(message, GetBlockRange) for message in answers):
            answers = talk.say(peer, BlockRangeReply((), 0, False))
        else:
            break
    assert talk.chain.head_id == tip.id
    assert talk.network.core[peer].strikes == 0


def test_a_peer_whose_branch_has_lost_is_not_asked_for_it_again(talk: Talk, others: Network) -> None:
    """It is longer, but fewer votes are behind it."""
    peer = talk.meet()
    branch = two_branches(talk, others, ours=12, theirs=20, validators=4)
    answers = talk.say(peer, status_of(branch[-1]))
    while asked(answers):
        served = {block.number: block for block in branch}
        answers = talk.say(peer, GapFillReply(tuple(served[n] for n in asked(answers)[-1] if n in served)))
    before, head = len(talk.sent[peer]), talk.chain.head_id
    talk.wait(30)
    assert [m for m in talk.sent[peer][before:] if isinstance(m, GapFillRequest | GetBlockRange)] == []
    assert talk.chain.head_id == head
