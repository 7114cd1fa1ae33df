"""Transactions of our clients: every peer that is fit for them gets each, over every connection, and again later."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.p2p.shared.allowances import OFFERED, OFFERED_A_SECOND, REPEATED, REPEATED_A_SECOND
from ledgerd.p2p.shared.peer import Life
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.talk.offers import BYTES_OF_UNIT, FRESH_BLOCKS, MARGIN_SECONDS, ROUND_BLOCKS, Offers
from ledgerd.p2p.wire.messages import FORWARD, SYNC, BlockRangeReply, BlockReply, ForkStatus, NodeId, TransactionMessage
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, TransactionId
from tests.chain.networks import SEVEN, VIZ, Network
from tests.p2p.conftest import Begin
from tests.p2p.scripted_talk import Talk

LIFETIME = 3_000


def payment(others: Network, memo: str = "", lifetime: int = LIFETIME) -> Transaction:
    return others.signed(Transfer(VIZ, VIZ, tokens(1), memo), lifetime=lifetime)


def broadcast(talk: Talk, *transactions: Transaction) -> None:
    """A client of our node sends them."""
    for transaction in transactions:
        talk.chain.push_transaction(transaction)
        talk.network.broadcast_transaction(talk.now, transaction)
    talk.look()


def many(others: Network, count: int, memo: str = "") -> list[Transaction]:
    return [payment(others, f"{number} {memo}") for number in range(count)]


def got(talk: Talk, peer: int) -> Counter[TransactionId]:
    """How often a peer was sent each transaction."""
    return Counter(each.trx.id for each in talk.sent[peer] if isinstance(each, TransactionMessage))


def once(*transactions: Transaction) -> Counter[TransactionId]:
    return Counter(transaction.id for transaction in transactions)


def offers_of(talk: Talk) -> Offers:
    return talk.network.intake.offers


def status(talk: Talk, node_status: int) -> ForkStatus:
    return ForkStatus(0, talk.chain.head_id, talk.chain.head_number, NO_BLOCK, 0, 0, 112, node_status)


def go_on(talk: Talk, others: Network, peer: int, blocks: int) -> None:
    """The network makes blocks without what waits here; a peer brings them."""
    for block in others.produce(blocks):
        talk.now += 3
        talk.say(peer, BlockReply(block, 0, True))
        talk.network.tick(talk.now)
        talk.look()


# -- when a peer becomes fit


def test_a_peer_that_connects_is_sent_what_is_pending(talk: Talk, others: Network) -> None:
    transaction = payment(others)
    broadcast(talk, transaction)
    assert got(talk, talk.meet()) == once(transaction)


def test_a_peer_that_has_caught_up_is_sent_what_came_meanwhile(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    before, meanwhile = many(others, 2)
    broadcast(talk, before)
    talk.say(peer, status(talk, SYNC))
    broadcast(talk, meanwhile)
    assert got(talk, peer) == once(before)
    talk.say(peer, status(talk, FORWARD))
    assert got(talk, peer) == once(before, meanwhile)


def test_what_came_while_a_peer_was_asked_for_blocks_is_sent_after_its_answer(talk: Talk, others: Network) -> None:
    transaction, blocks = payment(others), others.produce(3)
    talk.now += 9
    peer = talk.meet(head_block_num=115, dlt_latest_block=115, head_block_id=blocks[-1].id)
    assert talk.network.core[peer].life is Life.SYNCING
    broadcast(talk, transaction)
    assert got(talk, peer) == once()
    talk.say(peer, BlockRangeReply(tuple(blocks), 0, is_last=True))
    assert got(talk, peer) == once(transaction)


def test_a_peer_whose_chain_turns_out_to_be_ours_is_sent_what_is_pending(talk: Talk, others: Network) -> None:
    transaction = payment(others)
    peer = talk.accept()
    assert peer is not None
    elsewhere = talk.hello(peer, head_block_id=BlockId(bytes(20)), lib_block_id=BlockId(bytes(20)))
    talk.say(peer, elsewhere)
    broadcast(talk, transaction)
    assert got(talk, peer) == once()
    talk.now += 3
    talk.say(peer, BlockReply(others.produce()[0], 0, True))
    assert got(talk, peer) == once(transaction)


def test_over_each_connection_all_is_sent_whatever_was_sent_before(talk: Talk, others: Network) -> None:
    """What was sent over the one that has ended may be lost, and nothing tells whether it was."""
    first, second, third = many(others, 3)
    peer = talk.meet()
    broadcast(talk, first, second)
    talk.network.lost(talk.now, peer)
    broadcast(talk, third)
    assert got(talk, talk.meet()) == once(first, second, third)


def test_of_two_connections_to_a_node_the_one_that_stays_is_sent_all(talk: Talk, others: Network) -> None:
    """They crossed: what was sent over the one that was closed need not have been read."""
    dialled = talk.network.core.dial(Endpoint("62.5.5.5", 2001)).id
    talk.look()
    talk.network.connected(talk.now, dialled, "62.5.5.5")
    node_id = NodeId(b"\1" + bytes(32))
    talk.say(dialled, talk.hello(dialled, node_id=node_id))
    accepted = talk.meet("62.5.5.5", node_id=node_id)
    transaction = payment(others)
    broadcast(talk, transaction)
    talk.wait(10)
    (closed,) = talk.closed
    stays = dialled if closed == accepted else accepted
    assert got(talk, stays) == once(transaction)


def test_nothing_is_sent_twice_over_a_connection_that_is_fit(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    transactions = many(others, 20)
    broadcast(talk, *transactions)
    talk.say(peer, status(talk, FORWARD), status(talk, FORWARD))
    talk.wait(20)
    assert got(talk, peer) == once(*transactions)


# -- every ten blocks


def test_what_is_pending_is_sent_again_every_ten_blocks(talk: Talk, others: Network) -> None:
    peer, other = talk.meet(), talk.meet()
    transaction = payment(others)
    broadcast(talk, transaction)
    go_on(talk, others, peer, ROUND_BLOCKS - 1)
    assert got(talk, other) == once(transaction)
    go_on(talk, others, peer, 1)
    assert got(talk, other) == got(talk, peer) == Counter({transaction.id: 2})
    go_on(talk, others, peer, 2 * ROUND_BLOCKS)
    assert got(talk, other) == Counter({transaction.id: 4})


def test_what_was_sent_a_moment_ago_is_not_sent_again_yet(talk: Talk, others: Network) -> None:
    peer = talk.meet()
    go_on(talk, others, peer, ROUND_BLOCKS - FRESH_BLOCKS + 1)
    transaction = payment(others)
    broadcast(talk, transaction)
    go_on(talk, others, peer, FRESH_BLOCKS)
    assert got(talk, peer) == once(transaction)
    go_on(talk, others, peer, ROUND_BLOCKS)
    assert got(talk, peer) == Counter({transaction.id: 2})


def test_what_a_block_has_is_not_sent_again(talk: Talk, others: Network) -> None:
    peer, pending = talk.meet(), payment(others, "pending")
    included = others.send(Transfer(VIZ, VIZ, tokens(1), "included"))
    broadcast(talk, included, pending)
    go_on(talk, others, peer, 2 * ROUND_BLOCKS)
    assert got(talk, peer)[included.id] == 1
    assert got(talk, peer)[pending.id] == 3
    assert len(offers_of(talk)) == 1


def test_what_the_chain_has_dropped_is_not_sent_to_anybody(talk: Talk, others: Network) -> None:
    """As when a block has made it invalid."""
    transaction = payment(others)
    broadcast(talk, transaction)
    talk.chain.parts.pending.clear()
    talk.wait(5)
    assert got(talk, talk.meet()) == once()


def test_what_is_pending_again_after_its_block_was_undone_is_sent_again(
    talk: Talk, others: Network, tmp_path: Path
) -> None:
    peer = talk.meet()
    transaction = payment(others)
    shorter = Network(Path(shutil.copytree(others.folder, tmp_path / "shorter")), SEVEN)
    shorter.keys |= others.keys
    shorter.chain.push_transaction(transaction)
    broadcast(talk, transaction)
    talk.now += 30
    talk.say(peer, BlockReply(shorter.produce()[0], 0, True))
    talk.wait(5)
    assert offers_of(talk).pending == 0
    longer = others.produce(1, skipped=1) + others.produce(12)
    for block in longer:
        talk.say(peer, BlockReply(block, 0, True))
        talk.wait(5)
    shorter.chain.close()
    assert talk.chain.head_id == longer[-1].id
    assert got(talk, peer) == Counter({transaction.id: 2})


def test_what_expires_is_sent_no_more_and_is_forgotten(talk: Talk, others: Network) -> None:
    """By the clock of a peer it may have expired already, which would be a strike."""
    transaction = replace(payment(others), expiration=int(talk.now) + MARGIN_SECONDS)
    talk.network.broadcast_transaction(talk.now, transaction)
    talk.look()
    assert got(talk, talk.meet()) == once()
    talk.wait(MARGIN_SECONDS)
    assert len(offers_of(talk)) == 0


# -- limits


def test_a_peer_is_sent_what_its_address_may_cost_and_the_rest_later(talk: Talk, others: Network) -> None:
    transactions = many(others, OFFERED + 200)
    peer = talk.meet()
    broadcast(talk, *transactions)
    assert got(talk, peer) == once(*transactions[:OFFERED])
    talk.wait(5)
    assert got(talk, peer) == once(*transactions)


def test_connections_of_an_address_have_one_limit(talk: Talk, others: Network) -> None:
    """Whoever connects again and again has us send no more for that."""
    transactions = many(others, 400)
    broadcast(talk, *transactions)
    sent = 0
    for _ in range(10):
        peer = talk.meet("62.9.9.9")
        sent += sum(got(talk, peer).values())
        talk.network.lost(talk.now, peer)
    assert sent == OFFERED


def test_a_stranger_whose_mode_changes_without_end_is_sent_all_once(talk: Talk, others: Network) -> None:
    transactions = many(others, 20)
    broadcast(talk, *transactions)
    peer = talk.meet()
    for _ in range(50):
        talk.say(peer, status(talk, SYNC), status(talk, FORWARD))
    assert got(talk, peer) == once(*transactions)


def test_what_is_repeated_has_a_smaller_limit_and_new_ones_do_not_wait_for_it(talk: Talk, others: Network) -> None:
    peer, transactions = talk.meet(), many(others, REPEATED + 300)
    broadcast(talk, *transactions)
    go_on(talk, others, peer, ROUND_BLOCKS)
    assert sum(got(talk, peer).values()) - len(transactions) == REPEATED
    new = payment(others, "new")
    broadcast(talk, new)
    assert got(talk, peer)[new.id] == 1
    talk.wait(3 * 300 / REPEATED_A_SECOND)
    assert got(talk, peer) == once(*transactions, *transactions, new)


def test_a_large_transaction_costs_as_much_as_many_small_ones(talk: Talk, others: Network) -> None:
    large = payment(others, "x" * 1_900)
    peer = talk.meet()
    broadcast(talk, *many(others, OFFERED - 1), large, payment(others, "last"))
    assert sum(got(talk, peer).values()) == OFFERED
    missing = -(-len(large.packed) // BYTES_OF_UNIT) / OFFERED_A_SECOND
    talk.network.tick(talk.now + missing + 0.1)
    talk.look()
    assert sum(got(talk, peer).values()) == OFFERED + 1


def test_what_a_full_send_buffer_has_no_room_for_is_sent_later(talk: Talk, others: Network) -> None:
    first, second = many(others, 2)
    peer = talk.meet()
    broadcast(talk, first)
    talk.network.core.room = lambda _: 0
    broadcast(talk, second)
    talk.wait(10)
    assert got(talk, peer) == once(first)
    talk.network.core.room = lambda _: 1
    talk.wait(5)
    assert got(talk, peer) == once(first, second)


@pytest.mark.parametrize("settings", [Settings(mempool_max_tx=3), Settings(mempool_max_bytes=330)])
def test_so_many_are_kept_and_others_are_sent_once(talk_with: Begin, others: Network, settings: Settings) -> None:
    talk = talk_with(settings)
    early, transactions = talk.meet(), many(others, 5)
    assert 330 // 3 > len(transactions[0].packed) > 330 // 4
    broadcast(talk, *transactions)
    assert got(talk, early) == once(*transactions)
    assert got(talk, talk.meet()) == once(*transactions[:3])


def test_what_blocks_have_makes_room_for_others(talk_with: Begin, others: Network) -> None:
    talk = talk_with(Settings(mempool_max_tx=3))
    peer, included = talk.meet(), [others.send(Transfer(VIZ, VIZ, tokens(1), f"{number}")) for number in range(3)]
    broadcast(talk, *included)
    go_on(talk, others, peer, 1)
    pending = many(others, 3, "pending")
    broadcast(talk, *pending)
    assert got(talk, talk.meet()) == once(*pending)


# -- what nobody has heard of


def test_it_is_known_how_many_nobody_has_heard_of(talk: Talk, others: Network) -> None:
    offers = offers_of(talk)
    broadcast(talk, *many(others, 3))
    assert (offers.pending, offers.unconfirmed) == (3, 3)
    peer = talk.meet()
    assert (offers.pending, offers.unconfirmed) == (3, 0)
    talk.network.lost(talk.now, peer)
    assert (offers.pending, offers.unconfirmed) == (3, 3)


def test_what_a_peer_has_sent_us_was_heard_of(talk: Talk, others: Network) -> None:
    offers, transaction = offers_of(talk), payment(others)
    peer = talk.meet()
    talk.say(peer, status(talk, SYNC))
    broadcast(talk, transaction)
    assert offers.unconfirmed == 1
    talk.say(peer, TransactionMessage(transaction))
    assert (offers.pending, offers.unconfirmed) == (1, 0)


def test_what_a_block_has_is_no_longer_pending(talk: Talk, others: Network) -> None:
    transaction = others.send(Transfer(VIZ, VIZ, tokens(1), ""))
    broadcast(talk, transaction)
    talk.now += 3
    talk.say(talk.meet(node_status=SYNC), BlockReply(others.produce()[0], 0, True))
    assert (offers_of(talk).pending, offers_of(talk).unconfirmed) == (0, 0)
