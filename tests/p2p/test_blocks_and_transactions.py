"""What is pushed to a node, what it passes on, and what it makes of those who push (spec 04, 11, 13, 14, 17, 27)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.basics.addresses import Exemption
from ledgerd.p2p.shared.bans import Bans
from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD
from ledgerd.p2p.wire.messages import (
    SYNC,
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    Message,
    SoftBan,
    TransactionMessage,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.chain.networks import VIZ, VIZ_KEY, Network
from tests.p2p.scripted_talk import Talk


def pushed(messages: list[Message]) -> list[Message]:
    return [message for message in messages if isinstance(message, BlockReply | TransactionMessage)]


def forged(block: Block) -> Block:
    """The same block by somebody without its validator's key."""
    return replace(block, validator_signature=sign(VIZ_KEY, b"\5" * 32), validator="validator-a")


def payment(others: Network, amount: int = 1) -> Transaction:
    return others.signed(Transfer(VIZ, VIZ, tokens(amount), ""), lifetime=100)


# -- blocks


@pytest.mark.parametrize(("age", "remembered"), [(MAX_TIME_UNTIL_EXPIRATION, 1), (MAX_TIME_UNTIL_EXPIRATION + 1, 0)])
def test_transactions_of_a_block_are_remembered_while_they_could_come_again(
    talk: Talk, others: Network, age: int, remembered: int
) -> None:
    others.send(Transfer(VIZ, VIZ, tokens(1), ""))
    (block,) = others.produce()
    talk.network.core.now = block.timestamp + float(age)
    talk.network.intake.applied(block)

    assert talk.network.intake.mempool.remembered == remembered


def test_a_new_block_is_passed_on_once_to_everybody_else(talk: Talk, others: Network) -> None:
    sender, first, second = talk.meet(), talk.meet(), talk.meet()
    talk.now += 3
    (block,) = others.produce()
    message = BlockReply(block, 7, False)
    talk.say(sender, message)
    talk.say(first, message)
    assert talk.chain.head_id == block.id
    assert pushed(talk.sent[first]) == pushed(talk.sent[second]) == [message]
    assert pushed(talk.sent[sender]) == []


def test_an_own_block_is_pushed_but_not_to_a_syncing_exchange(talk: Talk, others: Network) -> None:
    peer, stranger = talk.meet(), talk.accept()
    assert stranger is not None
    (block,) = others.produce()
    talk.chain.push_block(block).or_raise()
    talk.network.broadcast_block(talk.now, block)
    talk.look()
    assert pushed(talk.sent[peer]) == [BlockReply(block, 0, True)]
    assert pushed(talk.sent[stranger]) == []


def test_a_block_that_breaks_a_rule_costs_a_strike_and_goes_no_further(talk: Talk, others: Network) -> None:
    sender, other = talk.meet(), talk.meet()
    talk.now += 3
    talk.say(sender, BlockReply(forged(others.make()), 0, True))
    assert talk.network.core[sender].strikes == 1
    assert pushed(talk.sent[other]) == []


def test_ten_strikes_ban_a_peer_with_a_reason(talk: Talk, others: Network) -> None:
    sender = talk.meet()
    talk.now += 3
    bad = BlockReply(forged(others.make()), 0, True)
    for _ in range(10):
        talk.say(sender, bad)
    assert talk.sent[sender][-1] == SoftBan(3600, "spam strike threshold exceeded")
    assert sender in talk.closed
    assert talk.accept("62.0.1.9") is None


def test_a_gap_above_the_head_is_asked_for_and_filled(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    talk.now += 60
    blocks = others.produce(5)
    answers = talk.say(peer, BlockReply(blocks[-1], 0, True))
    assert answers == [GapFillRequest(tuple(range(112, 118)))]
    talk.say(peer, GapFillReply(tuple(blocks[:-1])))
    assert talk.chain.head_number == 117


def test_the_parent_of_a_block_beside_our_head_is_asked_for(talk: Talk, others: Network) -> None:
    talk.chain.push_block(others.make(skipped=1)).or_raise()
    peer = talk.meet()
    talk.now += 30
    blocks = others.produce(2)
    assert GetBlock(113, NO_BLOCK) in talk.say(peer, BlockReply(blocks[1], 0, True))


def test_unrequested_answers_are_not_used(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    talk.now += 60
    talk.say(peer, GapFillReply(tuple(others.produce(5))))
    assert talk.chain.head_number == 112


def test_unrequested_answers_are_not_decoded(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = talk.meet()
    read: list[int] = []
    monkeypatch.setattr("ledgerd.p2p.shared.peer.read_message", lambda frame: read.append(frame.number))
    for number in (BlockRangeReply.NUMBER, GapFillReply.NUMBER):
        talk.send_bytes(peer, HEADER.pack(3, number) + b"\xff\xff\xff")
    assert read == []
    assert peer not in talk.closed


def test_a_block_before_its_time_waits(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    talk.say(peer, BlockReply(others.make(skipped=6), 0, True))
    assert talk.chain.head_number == 112
    assert talk.network.core[peer].strikes == 0
    talk.wait(20)
    assert talk.chain.head_number == 113


def test_blocks_of_a_chain_whose_time_is_in_the_future_are_accepted(talk: Talk, others: Network) -> None:
    first, *rest = others.produce(30)
    talk.chain.push_block(first).or_raise()
    talk.now = first.timestamp - 1e6
    peer = talk.meet(head_block_num=rest[-1].number, node_status=SYNC)
    assert talk.network.core[peer].head_number == rest[-1].number
    for block in rest:
        talk.say(peer, BlockReply(block, 0, True))
    assert talk.chain.head_id == rest[-1].id
    assert talk.network.core[peer].strikes == 0


def test_a_block_in_the_middle_of_its_slot_is_as_good_as_one_at_its_beginning(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    talk.now += 3
    block = others.make_at(talk.chain.head_time + 4)
    talk.say(peer, BlockReply(block, 0, True))
    assert talk.chain.head_id == block.id
    others.follow([block])
    following = others.make()
    assert following.timestamp == block.timestamp + 2
    talk.say(peer, BlockReply(following, 0, True))
    assert talk.chain.head_id == following.id


def test_few_unsigned_blocks_of_unknown_branches_are_kept(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    talk.now += 3
    block = others.make()
    for number in range(500):
        parent = BlockId((112 + number % 90).to_bytes(4, "big") + number.to_bytes(16, "big"))
        talk.say(peer, BlockReply(replace(forged(block), previous=parent), 0, True))
    assert len(talk.chain.parts.forks) < 60


# -- transactions


def test_a_transaction_that_the_chain_accepts_is_passed_on_once(talk: Talk, others: Network) -> None:
    sender, other = talk.meet(), talk.meet()
    message = TransactionMessage(payment(others))
    talk.say(sender, message, message)
    talk.say(other, message)
    assert pushed(talk.sent[other]) == [message]
    assert pushed(talk.sent[sender]) == []


def test_a_transaction_that_the_chain_refuses_is_not_passed_on(talk: Talk, others: Network) -> None:
    sender, other = talk.meet(), talk.meet()
    talk.say(sender, TransactionMessage(payment(others, 10**15)))
    assert pushed(talk.sent[other]) == []
    assert talk.network.core[sender].strikes == 0


def test_a_syncing_peer_gets_no_transactions(talk: Talk, others: Network) -> None:
    sender, other = talk.meet(), talk.meet()
    talk.say(other, ForkStatus(0, talk.chain.head_id, 112, NO_BLOCK, 0, 0, 112, SYNC))
    talk.say(sender, TransactionMessage(payment(others)))
    assert pushed(talk.sent[other]) == []


def test_an_expired_transaction_costs_a_strike_and_a_foreign_one_nothing(talk: Talk, others: Network) -> None:
    sender = talk.meet()
    trx = payment(others)
    talk.say(sender, TransactionMessage(replace(trx, expiration=int(talk.now) - 1)))
    assert talk.network.core[sender].strikes == 1
    talk.say(sender, TransactionMessage(replace(trx, expiration=int(talk.now) + 24 * 3600 + 1)))
    assert talk.network.core[sender].strikes == 2
    talk.say(sender, TransactionMessage(replace(trx, ref_block_prefix=5)))
    assert talk.network.core[sender].strikes == 2


def test_our_own_transactions_are_told_to_everybody(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    trx = payment(others)
    talk.network.broadcast_transaction(talk.now, trx)
    talk.network.broadcast_transaction(talk.now, trx)
    talk.look()
    assert pushed(talk.sent[peer]) == [TransactionMessage(trx)] * 2


def test_a_transaction_in_a_block_is_not_passed_on_afterwards(talk: Talk, others: Network) -> None:
    sender, other = talk.meet(), talk.meet()
    trx = payment(others)
    others.chain.push_transaction(trx)
    talk.now += 3
    talk.say(sender, BlockReply(others.produce()[0], 0, True))
    talk.say(sender, TransactionMessage(trx))
    assert not any(isinstance(message, TransactionMessage) for message in talk.sent[other])


# -- who misbehaves


def test_an_unknown_message_costs_a_strike_and_nothing_else(talk: Talk) -> None:
    peer = talk.meet()
    talk.send_bytes(peer, HEADER.pack(0, 5117))
    assert talk.network.core[peer].strikes == 1
    talk.say(peer, talk.hello(peer))
    assert talk.network.core[peer].strikes == 0


def test_what_cannot_be_read_ends_the_connection_without_a_strike(talk: Talk) -> None:
    peer = talk.meet("62.7.7.7")
    talk.send_bytes(peer, HEADER.pack(1, 5104) + b"x")
    assert peer in talk.closed
    assert talk.accept("62.7.7.7") is not None


def test_a_frame_that_is_too_large_bans_its_address_for_an_hour(talk: Talk) -> None:
    peer = talk.meet("62.7.7.7")
    talk.send_bytes(peer, HEADER.pack(MAX_PAYLOAD + 1, 5105))
    assert peer in talk.closed
    assert talk.accept("62.7.7.7") is None
    talk.now += 3601
    assert talk.accept("62.7.7.7") is not None


def test_offences_expire() -> None:
    bans = Bans(Exemption(("private",)))
    assert not any(bans.offend("62.1.1.1", second * 61.0) for second in range(500))
    assert any(bans.offend("62.1.1.2", second / 10) for second in range(40))


def test_the_number_of_remembered_addresses_is_limited() -> None:
    bans = Bans(Exemption(("private",)))
    for number in range(10_000):
        bans.ban(f"62.{number // 250}.{number % 250}.1", number, 3600)
        bans.offend(f"62.{number // 250}.{number % 250}.1", number)
    assert len(bans) <= 2 * 4096
