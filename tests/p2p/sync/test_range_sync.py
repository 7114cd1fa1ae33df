"""Ranges from several peers at once: who is asked what, and what slow, stalling and lying peers cost (spec 04, 10)."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.p2p.shared.actions import Precompute
from ledgerd.p2p.shared.core import FUTURE_SECONDS
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.sync.admission import BLOCKS_AT_ONCE
from ledgerd.p2p.sync.range_sync import ANSWER_SECONDS, IMPATIENT_SECONDS, linked_run
from ledgerd.p2p.wire.messages import (
    FORWARD,
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlockRange,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.signatures import sign
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.chain.networks import OTHERS, SEVEN, VIZ_KEY, Network, key_of
from tests.p2p.receiving import receive_all
from tests.p2p.scripted_talk import Talk

HEIGHT = 112
AHEAD = 180
RANGE_BLOCKS = 40
FIRST = (112, 151)
"""The first requested that is asked for: it begins with the own head."""


class Supply:
    """Peers that are ahead of our node, and have what it lacks."""

    def __init__(self, talk: Talk, blocks: dict[int, Block]) -> None:
        self.talk = talk
        self.blocks = blocks
        self._answered: Counter[int] = Counter()
        talk.now = float(blocks[HEIGHT + AHEAD].timestamp + 1)

    def meet(self) -> int:
        top = self.blocks[HEIGHT + AHEAD]
        return self.talk.meet(head_block_num=top.number, head_block_id=top.id, dlt_latest_block=top.number)

    def asked(self, peer: int) -> list[tuple[int, int]]:
        requests = [message for message in self.talk.sent[peer] if isinstance(message, GetBlockRange)]
        return [(request.start_block_num, request.end_block_num) for request in requests]

    def reply(self, requested: tuple[int, int], *others: Block) -> BlockRangeReply:
        """An answer, with other blocks in the place of those of their numbers."""
        changed = self.blocks | {block.number: block for block in others}
        run = tuple(changed[number] for number in range(max(requested[0], HEIGHT + 1), requested[1] + 1))
        return BlockRangeReply(run, requested[1] + 1, is_last=requested[1] == HEIGHT + AHEAD)

    def next(self, peer: int) -> tuple[int, int] | None:
        """What a peer was asked and has not answered."""
        ranges = self.asked(peer)[self._answered[peer] :]
        self._answered[peer] += len(ranges[:1])
        return ranges[0] if ranges else None

    def serve(self, *peers: int) -> None:
        """Let these peers answer all they are asked, until they are asked no more."""
        while ranges := [(peer, requested) for peer in peers if (requested := self.next(peer)) is not None]:
            for peer, requested in ranges:
                self.talk.say(peer, self.reply(requested))

    @property
    def is_synced(self) -> bool:
        return self.talk.chain.head_number == HEIGHT + AHEAD


@pytest.fixture(scope="module")
def later(grown: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Block]:
    """What the rest of the network has beyond our head, by number."""
    folder = tmp_path_factory.mktemp("later") / "others"
    shutil.copytree(grown, folder)
    network = Network(folder, SEVEN)
    network.keys |= {name: key_of(name) for name in OTHERS}
    made = network.produce(AHEAD)
    network.chain.close()
    return {block.number: block for block in made}


@pytest.fixture
def supply(talk: Talk, later: dict[int, Block], monkeypatch: pytest.MonkeyPatch) -> Supply:
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.RANGE_BLOCKS", RANGE_BLOCKS)
    monkeypatch.setattr("ledgerd.p2p.sync.admission.SECONDS_AT_ONCE", math.inf)
    return Supply(talk, later)


def forged(block: Block) -> Block:
    """The same block, signed by somebody else."""
    return replace(block, validator_signature=sign(VIZ_KEY, b"\5" * 32))


def test_every_peer_is_asked_for_a_range_of_its_own(talk: Talk, supply: Supply) -> None:
    peers = [supply.meet() for _ in range(3)]
    assert [supply.asked(peer) for peer in peers] == [[(112, 151)], [(152, 191)], [(192, 231)]]
    supply.serve(*reversed(peers))
    assert supply.is_synced
    assert talk.is_in(Mode.FORWARD)
    assert all(talk.network.core[peer].strikes == 0 for peer in peers)


def take_one_turn(talk: Talk, supply: Supply, when: float = 0.0) -> None:
    """A range arrives, and the node does one piece of work on it, at this moment if one is given."""
    peer = supply.meet()
    receive_all(talk.network, talk.now, peer, supply.reply(FIRST).frame)
    talk.network.work(when or talk.now)


def test_so_many_blocks_of_a_range_are_applied_at_once(talk: Talk, supply: Supply) -> None:
    take_one_turn(talk, supply)

    assert talk.chain.head_number == HEIGHT + BLOCKS_AT_ONCE


def test_slow_blocks_are_applied_one_by_one(talk: Talk, supply: Supply, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.p2p.sync.admission.SECONDS_AT_ONCE", 0.0)

    take_one_turn(talk, supply)

    assert talk.chain.head_number == HEIGHT + 1


def test_a_block_from_the_future_is_not_applied_with_those_before_it(talk: Talk, supply: Supply) -> None:
    last = supply.blocks[HEIGHT + 3]

    take_one_turn(talk, supply, last.timestamp - FUTURE_SECONDS)

    assert talk.chain.head_number == last.number


def test_the_log_says_when_the_node_is_in_step(supply: Supply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    peer = supply.meet()
    assert "in step" not in caplog.text
    supply.serve(peer)
    assert f"in step with the network at block {HEIGHT + AHEAD}" in caplog.text


def test_it_is_known_to_which_block_the_node_catches_up(talk: Talk, supply: Supply) -> None:
    core = talk.network.core
    assert core.catches_up_to == 0
    peer = supply.meet()
    assert core.catches_up_to == HEIGHT + AHEAD
    supply.serve(peer)
    assert core.catches_up_to == 0
    talk.say(peer, ForkStatus(0, core.chain.head_id, HEIGHT + AHEAD + 1, NO_BLOCK, 0, 0, 0, FORWARD))
    assert core.catches_up_to == 0, "it is a block behind, and waits for its push"


def test_what_is_here_already_is_not_asked_for_again_when_the_window_is_full(
    talk: Talk, supply: Supply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.RANGES_AHEAD", 2)
    monkeypatch.setattr("ledgerd.p2p.sync.admission.BLOCKS_AT_ONCE", 1)
    peer = supply.meet()
    while (requested := supply.next(peer)) is not None:  # faster than they are applied
        receive_all(talk.network, talk.now, peer, supply.reply(requested).frame)
        talk.network.work(talk.now)
        talk.look()
    assert supply.asked(peer)[-1][1] < HEIGHT + AHEAD
    talk.now += 5
    talk.network.tick(talk.now)
    talk.run_actions()
    supply.serve(peer)
    assert supply.is_synced
    assert len(supply.asked(peer)) == len(set(supply.asked(peer)))


def test_a_range_that_everything_waits_for_is_asked_of_a_second_peer(talk: Talk, supply: Supply) -> None:
    stalling, first, second = (supply.meet() for _ in range(3))
    supply.serve(first, second)
    assert talk.chain.head_number == HEIGHT
    talk.now += IMPATIENT_SECONDS + 1
    talk.network.watch_sync(talk.now)
    talk.look()
    assert [supply.asked(peer)[-1] for peer in (first, second)].count(FIRST) == 1
    supply.serve(first, second)
    assert supply.is_synced
    assert talk.say(stalling, supply.reply(FIRST)) == []
    assert talk.network.core[stalling].strikes == 0


def test_when_all_peers_are_slow_no_range_is_requested_twice(
    talk: Talk, supply: Supply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.RANGES_AHEAD", 2)
    slow, slower = supply.meet(), supply.meet()
    for _ in range(2):
        talk.now += 2 * IMPATIENT_SECONDS
        requested = supply.next(slower)
        assert requested is not None
        talk.say(slower, supply.reply(requested))
    assert supply.asked(slower) == [(152, 191), (192, 231)]
    supply.serve(slow, slower)
    assert supply.is_synced


def test_an_answer_that_others_gave_before_is_not_used_and_tells_a_slow_peer(talk: Talk, supply: Supply) -> None:
    slow, quick, silent = (supply.meet() for _ in range(3))
    supply.serve(quick)
    talk.now += IMPATIENT_SECONDS + 1
    talk.network.watch_sync(talk.now)
    talk.look()
    assert supply.next(quick) == FIRST
    talk.say(quick, supply.reply(FIRST))
    assert talk.chain.head_number == 191
    talk.say(slow, supply.reply(FIRST))
    assert talk.network.core[slow].failures == 1
    supply.serve(quick, silent)
    assert supply.is_synced


def test_a_peer_that_never_answers_is_skipped(talk: Talk, supply: Supply) -> None:
    stalling = supply.meet()
    for _ in range(2):
        talk.now += ANSWER_SECONDS + 1
        talk.network.watch_sync(talk.now)
        talk.look()
    assert talk.network.core[stalling].doubted_until > talk.now
    other = supply.meet()
    assert supply.asked(other) == [(113, 151)]
    supply.serve(other)
    assert supply.is_synced


def test_a_forged_block_costs_only_the_range_of_the_peer_that_sent_it(talk: Talk, supply: Supply) -> None:
    liar, honest = supply.meet(), supply.meet()
    supply.serve(honest)
    assert talk.chain.head_number == HEIGHT
    talk.say(liar, supply.reply(FIRST, forged(supply.blocks[151])))
    assert talk.chain.head_number == 150
    assert supply.asked(honest)[-1] == (151, 151)
    assert talk.network.core[liar].strikes == 1
    supply.serve(honest)
    assert supply.is_synced
    assert len(supply.asked(honest)) == len(set(supply.asked(honest)))


def test_a_range_that_does_not_link_is_asked_of_another_peer(talk: Talk, supply: Supply) -> None:
    honest, liar = supply.meet(), supply.meet()
    elsewhere = replace(supply.blocks[152], previous=forged(supply.blocks[151]).id)
    assert supply.next(liar) == (152, 191)
    talk.say(liar, supply.reply((152, 191), elsewhere))
    supply.serve(honest, liar)
    assert supply.is_synced
    assert supply.asked(honest).count(FIRST) == 1


def test_a_reply_that_leaves_blocks_out_is_used_as_far_as_it_goes(talk: Talk, supply: Supply) -> None:
    lacking, other = supply.meet(), supply.meet()
    run = tuple(supply.blocks[number] for number in range(113, 152) if number != 130)
    assert supply.next(lacking) == FIRST
    talk.say(lacking, BlockRangeReply(run, 152, is_last=False))
    assert talk.chain.head_number == 129
    assert talk.network.core[lacking].strikes == 0
    supply.serve(other, lacking)
    assert (130, 151) in supply.asked(other)
    assert supply.is_synced


@pytest.mark.parametrize("numbers", [(150, 151, 152), (151, 152), (153, 153), (154, 153), (191, 192)])
def test_a_reply_of_other_blocks_than_asked_for_costs_a_strike(
    talk: Talk, supply: Supply, numbers: tuple[int, ...]
) -> None:
    honest, liar = supply.meet(), supply.meet()
    assert supply.next(liar) == (152, 191)
    talk.say(liar, BlockRangeReply(tuple(supply.blocks[number] for number in numbers), 0, is_last=False))
    assert talk.network.core[liar].strikes == 1
    supply.serve(honest, liar)
    assert supply.is_synced


def test_a_peer_that_ends_at_its_irreversible_block_is_not_asked_for_more_by_ranges(talk: Talk, supply: Supply) -> None:
    """As a pruned reference node does: it claims its head, and serves ranges up to the irreversible block."""
    peer, end = supply.meet(), HEIGHT + AHEAD - 5
    while (requested := supply.next(peer)) is not None:
        run = supply.reply((requested[0], min(requested[1], end))).blocks
        talk.say(peer, BlockRangeReply(run, 0, is_last=True) if requested[1] > end else supply.reply(requested))
    assert talk.chain.head_number == end
    assert talk.network.core[peer].strikes == 0
    assert talk.sent[peer][-1] == GapFillRequest(tuple(range(end, HEIGHT + AHEAD + 1)))
    talk.say(peer, GapFillReply(tuple(supply.blocks[number] for number in range(end, HEIGHT + AHEAD + 1))))
    assert supply.is_synced


def test_bytes_of_batches_that_wait_are_bounded(
    chain: Chain, later: dict[int, Block], monkeypatch: pytest.MonkeyPatch
) -> None:
    piece_bytes = RANGE_BLOCKS * len(later[HEIGHT + 1].packed)
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.RANGE_BLOCKS", RANGE_BLOCKS)
    monkeypatch.setattr("ledgerd.p2p.sync.range_sync.BYTES_AHEAD", piece_bytes)
    talk = Talk(chain)
    supply = Supply(talk, later)
    first, *others = (supply.meet() for _ in range(4))
    waiting = []
    for peer in others:
        requested = supply.next(peer)
        assert requested is not None
        talk.say(peer, supply.reply(requested))
        waiting.append(talk.network.intake.ranges.waiting_bytes)
    assert max(waiting) <= 2 * piece_bytes
    assert waiting[-1] == waiting[-2]
    supply.serve(first, *others)
    assert supply.is_synced


def test_a_batch_waits_until_its_keys_are_recovered(talk: Talk, supply: Supply) -> None:
    talk.network.core.precomputes = True
    peer = supply.meet()
    receive_all(talk.network, talk.now, peer, supply.reply(FIRST).frame)
    (batch,) = (action.batch for action in talk.network.actions() if isinstance(action, Precompute))
    talk.run_actions()
    assert talk.chain.head_number == HEIGHT
    assert talk.network.intake.waits_for(batch)
    talk.network.precomputed(talk.now, batch)
    talk.run_actions()
    assert talk.chain.head_number == FIRST[1]
    assert not talk.network.intake.waits_for(batch)


def test_who_sees_to_the_disk_is_told_how_many_blocks_are_missing(
    talk: Talk, supply: Supply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.p2p.sync.watch.WORTH_A_LINE", 1)
    told: list[int] = []
    talk.network.core.on_catch_up = told.append
    supply.meet()
    for _ in range(2):
        talk.network.watch_sync(talk.now)
    assert told == [AHEAD]


def test_pushed_blocks_do_not_disturb_a_sync(talk: Talk, supply: Supply) -> None:
    peer = supply.meet()
    talk.say(peer, BlockReply(supply.blocks[HEIGHT + AHEAD], 0, True), BlockReply(supply.blocks[113], 0, True))
    assert talk.chain.head_number == 113
    supply.serve(peer)
    assert supply.is_synced


def test_blocks_of_ranges_are_committed_together(talk: Talk, supply: Supply, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = talk.network.core.chain.commit

    def count() -> None:
        commits.append(talk.chain.head_number)
        commit()

    monkeypatch.setattr(talk.network.core.chain, "commit", count)
    peers = [supply.meet() for _ in range(4)]
    for peer in reversed(peers):  # they come all at once, as to a node that is busy
        requested = supply.next(peer)
        assert requested is not None
        receive_all(talk.network, talk.now, peer, supply.reply(requested).frame)
    talk.run_actions()
    assert talk.chain.head_number >= 112 + 4 * RANGE_BLOCKS - 1
    assert len(commits) == 1


def test_only_blocks_that_continue_one_another_are_taken_together(later: dict[int, Block]) -> None:
    run = tuple(later[number] for number in range(113, 120))
    assert linked_run(run) == run
    assert linked_run((*run[:3], *run[4:])) == run[:3]
    assert linked_run((*run[:2], forged(run[2]), *run[3:])) == (*run[:2], forged(run[2]))
    assert linked_run(()) == ()
