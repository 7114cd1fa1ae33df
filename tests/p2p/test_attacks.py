"""What strangers may cost, by counts: own blocks taken off, blocks decoded, keys recovered, lines logged, places held.

Each attack is played against a node that an honest peer goes on speaking to. `docs/threats.md` names the bounds.
"""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.rules.transactions.bounds import TRANSACTION_SECONDS
from ledgerd.p2p.shared import peer as peer_module
from ledgerd.p2p.shared.allowances import MEMBERS_OF_A_SIGNATURE
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import SKIPPED_AT_ONCE
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire import replies
from ledgerd.p2p.wire.frames import Frame, pack_frame
from ledgerd.p2p.wire.messages import (
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    HelloReply,
    Message,
    TransactionMessage,
    read_message,
)
from ledgerd.protocol.blocks import transaction as transaction_module
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.crypto.signatures import Signature, recover
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.chain.forks.branches import forged, forged_line
from tests.chain.networks import OTHERS, VIZ, Network
from tests.logs import KeptLines, LimitedAt
from tests.p2p.conftest import Begin
from tests.p2p.noise import noise
from tests.p2p.scripted_talk import Talk

ATTACKER = "62.7.7.7"
TRANSACTIONS, OPERATIONS = 20, 20


class Counted:
    """How often something was called, which goes on doing what it does."""

    def __init__(self) -> None:
        self.times = 0


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Messages that were decoded whole."""
    counted = Counted()

    def count(frame: Frame) -> Message:
        counted.times += frame.number in (BlockReply.NUMBER, TransactionMessage.NUMBER)
        return read_message(frame)

    monkeypatch.setattr(peer_module, "read_message", count)
    return counted


@pytest.fixture
def recovered(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Keys of transactions that were recovered."""
    counted = Counted()

    def count(signature: Signature, digest: bytes) -> PublicKey:
        counted.times += 1
        return recover(signature, digest)

    monkeypatch.setattr(transaction_module, "recover", count)
    return counted


def forks_bytes(chain: Chain) -> int:
    return chain.parts.forks.unlinked_bytes


def load(others: Network) -> None:
    """Blocks with many operations, which cost much to take off and put on again."""
    for amount in range(TRANSACTIONS):
        others.send(*[Transfer(VIZ, VIZ, tokens(1 + amount + each), "") for each in range(OPERATIONS)])


def produce(talk: Talk, others: Network, honest: int) -> Block:
    load(others)
    (block,) = others.produce()
    talk.now = float(block.timestamp)
    talk.say(honest, BlockReply(block, 0, True))
    assert talk.chain.head_id == block.id
    return block


# -- row 1: branches that nobody signed


def test_ninety_forged_branches_in_short_connections_take_no_block_off(talk: Talk, others: Network) -> None:
    honest = talk.meet()
    base = talk.chain.head_id
    start = produce(talk, others, honest).timestamp
    produce(talk, others, honest)
    for salt in range(90):
        number = talk.accept(ATTACKER)
        if number is not None:
            talk.say(number, talk.hello(number))
            names = (*OTHERS,)
            for block in forged_line(base, start + 3 * salt, names, salt):
                talk.say(number, BlockReply(block, 0, True))
            talk.network.lost(talk.now, number)
        if salt % 30 == 29:
            produce(talk, others, honest)
    forks = talk.chain.parts.forks
    assert talk.chain.parts.trunk.pops == 0
    assert all(len(forks.items_at(number)) <= 1 for number in range(talk.chain.head_number + 10))
    assert not talk.chain.is_minority()


def test_only_blocks_that_are_applied_and_transactions_that_are_accepted_are_useful(
    talk: Talk, others: Network
) -> None:
    honest, attacker = talk.meet(), talk.meet(ATTACKER)
    base = talk.chain.head_id
    start = produce(talk, others, honest).timestamp
    produce(talk, others, honest)
    talk.say(honest, TransactionMessage(others.signed(Transfer(VIZ, VIZ, tokens(7), ""))))
    for block in forged_line(base, start, (*OTHERS,), 1):
        talk.say(attacker, BlockReply(block, 0, True))
    brought = [talk.network.core.find(each) for each in (honest, attacker)]
    assert [None if peer is None else peer.allowance.useful for peer in brought] == [3, 0]


# -- row 2: blocks that wait for parents that never come


def test_blocks_without_parents_are_charged_to_the_address_over_all_its_connections(
    talk: Talk, others: Network
) -> None:
    others.produce()
    for place in range(400):
        number = talk.accept(ATTACKER)
        assert number is not None
        talk.say(number, talk.hello(number))
        parent = BlockId((talk.chain.head_number + place % 90).to_bytes(4, "big") + place.to_bytes(16, "big"))
        talk.say(number, BlockReply(forged(parent, int(talk.now), VIZ, place), 0, True))
        talk.network.lost(talk.now, number)
    assert len(talk.chain.parts.forks) <= 60
    assert forks_bytes(talk.chain) < 60 * 300


def test_blocks_before_their_time_are_charged_to_the_address_too(talk: Talk) -> None:
    for place in range(40):
        number = talk.accept(ATTACKER)
        assert number is not None
        talk.say(number, talk.hello(number))
        talk.say(number, BlockReply(forged(talk.chain.head_id, int(talk.now) + 600, VIZ, place), 0, True))
        talk.network.lost(talk.now, number)
    assert len(talk.network.intake.admission) == 8


def test_two_addresses_of_one_ipv6_network_are_one(talk: Talk) -> None:
    core = talk.network.core
    first, second, other = (core.allowances.of(host, 0) for host in ("2a01:1:2:3::1", "2a01:1:2:3::9", "2a01:1:2:4::1"))
    assert first is second
    assert first is not other


def test_loopback_is_charged_as_any_other_address_when_the_operator_says_so(talk_with: Begin) -> None:
    talk = talk_with(Settings(exempt=("none",), max_per_address=2))
    assert [talk.accept("127.0.0.2") is None for _ in range(3)] == [False, False, True]
    talk.network.core.bans.ban("127.0.0.2", talk.now, 60)
    assert talk.network.core.bans.is_banned("127.0.0.2", talk.now)
    assert talk.accept("127.0.0.3") is not None


# -- row 3: transactions of very many signatures


def test_of_a_thousand_signatures_that_nothing_asks_for_no_key_is_recovered(
    talk: Talk, others: Network, recovered: Counted
) -> None:
    draft = others.signed(Transfer(VIZ, VIZ, tokens(1), ""), lifetime=100)
    made = recovered.times
    for place in range(20):
        number = talk.meet(f"62.8.{place}.1")
        talk.say(number, TransactionMessage(replace(draft, signatures=noise(1_000, place))))
    assert recovered.times == made
    honest = talk.meet()
    talk.say(honest, TransactionMessage(draft))
    assert draft.id in talk.network.intake.mempool


def test_signatures_are_charged_to_the_address_that_sends_them(talk: Talk, others: Network, recovered: Counted) -> None:
    made = recovered.times
    for place in range(400):
        number = talk.meet(ATTACKER)
        draft = others.signed(Transfer(VIZ, VIZ, tokens(1 + place), ""), lifetime=100)
        made = recovered.times if not place else made
        talk.say(number, TransactionMessage(replace(draft, signatures=noise(16, place))))
        talk.network.lost(talk.now, number)
    assert 100 < recovered.times - made <= 2_100


def test_members_that_are_looked_at_are_charged_to_the_address_that_sends_them(
    talk: Talk, others: Network, recovered: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transfer with a wrong key, whose authority has very many members: no more than a few are looked at."""
    monkeypatch.setattr(Chain, "members_checked", 100 * MEMBERS_OF_A_SIGNATURE)
    key = PrivateKey(b"\1" * 32)
    made = [others.signed(Transfer(VIZ, VIZ, tokens(1 + place), ""), key=key, lifetime=100) for place in range(40)]
    before = recovered.times
    for transaction in made:
        number = talk.meet(ATTACKER)
        talk.say(number, TransactionMessage(transaction))
        talk.network.lost(talk.now, number)
    assert 1 <= recovered.times - before <= 3


def test_from_an_address_without_signatures_left_no_transaction_is_decoded(
    talk: Talk, others: Network, decoded: Counted
) -> None:
    attacker, honest = talk.meet(ATTACKER), talk.meet()
    talk.network.core[attacker].allowance.signatures.charge(3000)
    first, second = (others.signed(Transfer(VIZ, VIZ, tokens(amount), ""), lifetime=100) for amount in (1, 2))
    talk.say(attacker, *[TransactionMessage(first)] * 5)
    assert decoded.times == 0
    talk.say(honest, TransactionMessage(second))
    assert second.id in talk.network.intake.mempool
    talk.now += 10
    talk.say(attacker, TransactionMessage(first))
    assert first.id in talk.network.intake.mempool


DEEP = "[" * 20_000 + "]" * 20_000


@pytest.mark.parametrize("text", ["[", '"', "[" * 60_000, f"[{DEEP},", f'{{"a":[{DEEP},'])
def test_a_transaction_whose_json_ends_too_early_is_refused_and_others_are_heard(
    talk: Talk, others: Network, text: str
) -> None:
    """Unsigned, after a hello: two messages, and the error would end the node."""
    attacker, honest = talk.meet(ATTACKER), talk.meet()
    false = replace(others.signed(Custom((), (VIZ,), "any", text), lifetime=100), signatures=())
    talk.say(attacker, TransactionMessage(false))
    signed = others.signed(Transfer(VIZ, VIZ, tokens(1), ""), lifetime=100)
    talk.say(honest, TransactionMessage(signed))
    assert false.id not in talk.network.intake.mempool
    assert signed.id in talk.network.intake.mempool


def test_a_fault_of_ours_in_judging_a_transaction_refuses_it_and_is_told(
    talk: Talk, others: Network, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    attacker, honest = talk.meet(ATTACKER), talk.meet()
    first, second = (others.signed(Transfer(VIZ, VIZ, tokens(amount), ""), lifetime=100) for amount in (1, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Chain, "push_transaction", lambda _chain, _transaction: 1 // 0)
        talk.say(attacker, TransactionMessage(first))
    talk.say(honest, TransactionMessage(second))
    assert first.id not in talk.network.intake.mempool
    assert second.id in talk.network.intake.mempool
    assert [first.id.hex() in each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR] == [True]


def test_a_disk_that_fails_is_no_refusal(talk: Talk, others: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_chain: Chain, _transaction: Transaction) -> None:
        raise OSError("the disk has failed")

    monkeypatch.setattr(Chain, "push_transaction", fail)
    with pytest.raises(OSError, match="disk"):
        talk.say(talk.meet(), TransactionMessage(others.signed(Transfer(VIZ, VIZ, tokens(1), ""), lifetime=100)))


def test_time_that_a_refused_transaction_takes_is_charged_to_the_address_that_sends_it(
    talk: Talk, others: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its operations are carried out, up to a last one that breaks a rule."""
    pushed: list[Transaction] = []

    def refuse(_chain: Chain, transaction: Transaction) -> None:
        pushed.append(transaction)
        raise RuleViolation("the last operation breaks a rule")

    monkeypatch.setattr(Chain, "push_transaction", refuse)
    monkeypatch.setattr(Chain, "seconds_spent", TRANSACTION_SECONDS)
    for amount in range(1, 40):
        number = talk.meet(ATTACKER)
        talk.say(number, TransactionMessage(others.signed(Transfer(VIZ, VIZ, tokens(amount), ""), lifetime=100)))
        talk.network.lost(talk.now, number)
    assert 1 <= len(pushed) <= 3


def test_what_many_addresses_use_up_is_not_what_honest_ones_need(talk: Talk, others: Network) -> None:
    honest = talk.meet()
    first = others.signed(Transfer(VIZ, VIZ, tokens(1), "first"), lifetime=100)
    talk.say(honest, TransactionMessage(first))
    for place in range(60):
        number = talk.meet(f"62.8.{place}.1")
        for each in range(12):
            draft = others.signed(Transfer(VIZ, VIZ, tokens(1 + each), f"{place}"), lifetime=100)
            talk.say(number, TransactionMessage(replace(draft, signatures=noise(16, place))))
        talk.network.lost(talk.now, number)
    second = others.signed(Transfer(VIZ, VIZ, tokens(1), "second"), lifetime=100)
    talk.say(honest, TransactionMessage(second))
    assert first.id in talk.network.intake.mempool
    assert second.id in talk.network.intake.mempool


def test_a_copy_with_false_signatures_does_not_keep_the_honest_one_out(talk: Talk, others: Network) -> None:
    attacker, honest = talk.meet(ATTACKER), talk.meet()
    draft = others.signed(Transfer(VIZ, VIZ, tokens(1), ""), lifetime=100)
    false = replace(draft, signatures=(Signature(bytes([31]) + bytes([2]) * 64),))
    assert false.id == draft.id
    talk.say(attacker, TransactionMessage(false))
    assert draft.id not in talk.network.intake.mempool
    talk.say(honest, TransactionMessage(draft))
    assert draft.id in talk.network.intake.mempool


# -- row 4: large blocks, far above the head


def test_a_block_far_above_the_head_or_too_large_is_not_decoded(talk: Talk, others: Network, decoded: Counted) -> None:
    peer = talk.meet(ATTACKER)
    load(others)
    block = others.make()
    far = replace(block, previous=BlockId((talk.chain.head_number + 5_000).to_bytes(4, "big") + bytes(16)))
    decoded.times = 0
    for _ in range(5):
        talk.say(peer, BlockReply(far, 0, True))
    assert decoded.times == 0
    large = pack_frame(BlockReply.NUMBER, block.packed + bytes(1 << 20))
    talk.send_bytes(peer, large)
    assert decoded.times == 0
    assert talk.network.core[peer].strikes == 1
    talk.send_bytes(peer, pack_frame(TransactionMessage.NUMBER, bytes(1 << 20)))
    assert decoded.times == 0
    assert talk.network.core[peer].strikes == 2


def test_of_blocks_near_the_head_that_nobody_signed_so_many_bytes_are_decoded(
    talk: Talk, others: Network, decoded: Counted
) -> None:
    peer = talk.meet(ATTACKER)
    load(others)
    block = others.make()
    size = len(block.packed)
    decoded.times = 0
    pushes = 4 * (1 << 20) // size
    for place in range(pushes):
        parent = BlockId((talk.chain.head_number + 20).to_bytes(4, "big") + place.to_bytes(16, "big"))
        talk.say(peer, BlockReply(replace(block, previous=parent), 0, True))
    assert decoded.times * size <= (1 << 20) + 2 * size


# -- row 12: connect, one message, close


def test_connections_that_come_and_go_cause_so_many_lines_only(talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log, lines = logging.getLogger("ledgerd.p2p"), KeptLines()
    limited = LimitedAt(lambda: talk.now, lines)
    log.addHandler(limited)
    for place in range(2_000):
        number = talk.accept(f"62.9.{place % 200}.{place // 200}")
        if number is not None:
            talk.send_bytes(number, pack_frame(9_999, b""))
            talk.send_bytes(number, pack_frame(BlockReply.NUMBER, b"\1"))
            talk.network.lost(talk.now, number)
        talk.now += 0.05
    log.removeHandler(limited)
    assert len(caplog.records) > 2_000
    assert len(lines.texts) < 30 + 100 * 0.2 + 5
    assert any("left out" in text for text in lines.texts)


# -- row 14: silent peers


def test_silent_peers_give_way_and_useful_ones_stay(talk_with: Begin, others: Network) -> None:
    talk = talk_with(Settings(max_connections=12, reserved_outbound=2))
    useful = talk.meet("62.1.1.1")
    produce(talk, others, useful)
    silent = [talk.meet(f"62.2.{place}.1") for place in range(9)]
    assert talk.accept("62.3.1.1") is None, "all came a moment ago"
    talk.now += 61
    came = [talk.accept(f"62.3.{place}.1") for place in range(4)]
    assert all(number is not None for number in came)
    assert talk.network.core.find(useful) is not None
    assert sum(talk.network.core.find(number) is None for number in silent) == 4


def test_a_reply_of_many_blocks_is_decoded_in_parts_and_others_are_heard_between(
    talk: Talk, others: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was asked for blocks answers with as many as a frame holds: it is heard in as many turns as they take."""
    monkeypatch.setattr(replies, "DECODED_BYTES", 2_000)
    peer, other = talk.meet(ATTACKER), talk.meet("62.8.8.8")
    produce(talk, others, other)
    blocks: list[Block] = []
    for _ in range(6):
        load(others)
        blocks += others.produce()
    talk.now = float(blocks[-1].timestamp)
    status = ForkStatus(0, blocks[-1].id, blocks[-1].number, NO_BLOCK, 0, 0, blocks[-1].number, Mode.FORWARD)
    said = talk.say(peer, status)
    assert any(isinstance(message, GapFillRequest) for message in said)
    network, head = talk.network, talk.chain.head_number
    network.receive(talk.now, peer, GapFillReply(tuple(blocks)).frame)
    turns = 0
    while network.waiting_message(peer) is not None:
        assert network.handle_next(talk.now, peer)
        assert talk.chain.head_number == head
        turns += 1
    assert turns >= len(blocks) - 1
    talk.run_actions()
    assert talk.chain.head_id == blocks[-1].id


def test_messages_that_are_not_decoded_are_passed_over_in_parts_and_others_are_heard_between(talk: Talk) -> None:
    """One read of the socket holds thousands of replies that nobody asked for, or of blocks with false signatures."""
    peer = talk.meet(ATTACKER)
    network, count = talk.network, 10 * SKIPPED_AT_ONCE
    network.receive(talk.now, peer, GapFillReply(()).frame * count + talk.hello(peer).frame)
    turns = 0
    while network.waiting_message(peer) is not None:
        assert network.handle_next(talk.now, peer)
        turns += 1
    assert turns >= 10
    talk.run_actions()
    assert isinstance(talk.sent[peer][-1], HelloReply)
