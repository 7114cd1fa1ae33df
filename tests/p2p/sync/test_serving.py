"""Answers to those who ask for blocks (spec 04, sections 4.3, 10.3, 11.4, 13.2 and 27, items 5 and 6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.basics.quotas import SharedQuota
from ledgerd.p2p.sync.serving import LOOKUP_COST, MOST_IN_RANGE, RANGE_BYTES
from ledgerd.p2p.wire.frames import MAX_PAYLOAD
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    BlockReply,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Message,
    NotAvailable,
    RangeReply,
    RangeRequest,
)
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from tests.p2p.scripted_talk import Talk


def numbers(reply: Message) -> list[int]:
    assert isinstance(reply, BlockRangeReply | GapFillReply)
    return [block.number for block in reply.blocks]


def the_range(talk: Talk, start: int, end: int) -> BlockRangeReply:
    (reply,) = talk.say(talk.meet(), GetBlockRange(start, end, NO_BLOCK))
    assert isinstance(reply, BlockRangeReply)
    return reply


def test_a_range_is_served_with_what_follows(talk: Talk) -> None:
    reply = the_range(talk, 10, 20)
    assert numbers(reply) == list(range(10, 21))
    assert (reply.last_block_next_available, reply.is_last) == (21, False)


def test_the_end_of_the_chain_is_the_end_of_a_range(talk: Talk) -> None:
    reply = the_range(talk, 100, 300)
    assert numbers(reply) == list(range(100, 113))
    assert (reply.last_block_next_available, reply.is_last) == (0, True)


@pytest.mark.parametrize(("start", "end"), [(200, 300), (20, 10), (0, 0)])
def test_a_request_for_missing_blocks_gets_an_empty_answer(talk: Talk, start: int, end: int) -> None:
    reply = the_range(talk, start, end)
    assert (reply.blocks, reply.last_block_next_available, reply.is_last) == ((), 0, False)


def test_a_range_without_an_end_costs_no_more_than_one_with(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = talk.network.core.chain
    looked: list[int] = []
    read = chain.read

    def look(number: int) -> bytes | None:
        looked.append(number)
        return read(number)

    monkeypatch.setattr(chain, "read", look)
    assert numbers(the_range(talk, 0, 0xFFFFFFFF)) == list(range(1, 113))
    assert len(looked) <= MOST_IN_RANGE


def test_a_range_stops_before_it_is_too_large(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = talk.network.core.chain.read(5)
    assert packed is not None
    monkeypatch.setattr("ledgerd.p2p.sync.serving.RANGE_BYTES", 4 * len(packed))
    reply = the_range(talk, 5, 50)
    assert 1 <= len(reply.blocks) <= 4
    assert (reply.last_block_next_available, reply.is_last) == (reply.blocks[-1].number + 1, False)
    assert RANGE_BYTES < MAX_PAYLOAD


def test_a_block_is_served_or_said_not_to_be_there(talk: Talk) -> None:
    peer = talk.meet()
    (middle,) = talk.say(peer, GetBlock(50, NO_BLOCK))
    (last,) = talk.say(peer, GetBlock(112, NO_BLOCK))
    assert isinstance(middle, BlockReply)
    assert isinstance(last, BlockReply)
    assert (middle.block.number, middle.next_available, middle.is_last) == (50, 51, False)
    assert (last.block.number, last.next_available, last.is_last) == (112, 0, True)
    assert talk.say(peer, GetBlock(113, NO_BLOCK)) == [NotAvailable(113)]


def test_a_probe_tells_the_range(talk: Talk) -> None:
    peer = talk.meet()
    assert talk.say(peer, RangeRequest(5, NO_BLOCK)) == [RangeReply(0, 112, True)]
    assert talk.say(peer, RangeRequest(500, NO_BLOCK)) == [RangeReply(0, 0, False)]


def test_gaps_are_filled_in_the_order_asked_for_and_each_block_once(talk: Talk) -> None:
    (reply,) = talk.say(talk.meet(), GapFillRequest((112, 300, 5, 5, 7)))
    assert numbers(reply) == [112, 5, 7]


@pytest.mark.parametrize("count", [0, 101])
def test_too_many_or_no_gaps_cost_a_strike_and_get_no_answer(talk: Talk, count: int) -> None:
    peer = talk.meet()
    assert talk.say(peer, GapFillRequest(tuple(range(1, count + 1)))) == []
    assert talk.network.core[peer].strikes == 1


def test_a_peer_over_its_budget_gets_empty_answers_for_a_while(talk: Talk) -> None:
    peer = talk.meet()
    talk.network.core[peer].allowance.service.spend(1 << 40, talk.now)
    assert talk.say(peer, GetBlockRange(1, 5, NO_BLOCK)) == [BlockRangeReply((), 0, False)]
    assert talk.say(peer, GapFillRequest((5,))) == [GapFillReply(())]
    assert talk.say(peer, GetBlock(5, NO_BLOCK)) == [NotAvailable(5)]
    assert LOOKUP_COST > 0


def test_of_what_many_addresses_ask_for_so_much_is_served_and_an_honest_one_keeps_its_part(talk: Talk) -> None:
    reply = len(the_range(talk, 1, 100).frame)
    talk.network.core.served = SharedQuota(2 * reply, reply, reply, talk.now)
    hostile = [talk.meet() for _ in range(10)]
    honest, served, of_honest = talk.meet(), 0, 0
    for second in range(60):
        talk.now += 1
        for peer in hostile * 3:
            served += len(of_range(talk, peer)) > 0
        of_honest += second % 20 == 0 and len(of_range(talk, honest)) > 0
    assert served <= 2 + 2 * 60 + 2 * len(hostile)
    assert of_honest == 3


def of_range(talk: Talk, peer: int) -> list[int]:
    (reply,) = talk.say(peer, GetBlockRange(1, 100, NO_BLOCK))
    return numbers(reply)


def forget_kept(talk: Talk) -> None:
    """As when the blocks became irreversible long ago."""
    store = talk.chain.parts.store
    for kept in store.scan(REVERSIBLE_BY_NUMBER, upper=(talk.chain.irreversible,)):
        store.remove(kept)


def test_a_damaged_block_is_left_out_and_told_to_the_operator_once(
    talk: Talk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    packed = talk.network.core.chain.read(50)
    assert packed is not None
    path = tmp_path / "chain" / "state" / "block_log"
    data = path.read_bytes()
    path.write_bytes(data.replace(packed, packed[:24] + bytes([packed[24] ^ 1]) + packed[25:]))
    assert numbers(the_range(talk, 45, 55)) == [*range(45, 56)], "the state still has it"
    forget_kept(talk)
    assert numbers(the_range(talk, 45, 55)) == [*range(45, 50), *range(51, 56)]
    peer = talk.meet()
    assert talk.say(peer, GetBlock(50, NO_BLOCK)) == [NotAvailable(50)]
    (reply,) = talk.say(peer, GapFillRequest((49, 50, 51)))
    assert numbers(reply) == [49, 51]
    assert sum("block 50 of" in record.message for record in caplog.records) == 1


def test_blocks_without_checksums_are_checked_so_many_at_a_time(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of the reference has none: the reply is shorter, and what was checked has one from then on."""
    monkeypatch.setattr("ledgerd.p2p.shared.chain_access.MOST_DECODED", 1_000)
    path = tmp_path / "chain" / "state" / "block_log.sums"
    path.write_bytes(path.read_bytes()[:8])
    reply = the_range(talk, 10, 50)
    assert 1 < len(reply.blocks) < 41
    assert not reply.is_last
    assert reply.last_block_next_available == numbers(reply)[-1] + 1
    following = the_range(talk, 10, 50)
    assert len(reply.blocks) < len(following.blocks) <= 41


def test_a_block_of_a_stranger_that_asks_for_a_damaged_one_ends_nothing(
    talk: Talk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    packed = talk.network.core.chain.read(20)
    assert packed is not None
    forget_kept(talk)
    path = tmp_path / "chain" / "state" / "block_log"
    path.write_bytes(path.read_bytes().replace(packed, packed[:24] + bytes([packed[24] ^ 1]) + packed[25:]))
    block_id = talk.chain.id_at(20)
    for _ in range(3):
        assert talk.chain.parts.blocks.fetch(block_id) is None
    assert sum("block 20 of" in record.message for record in caplog.records) == 1
