"""What peers show of blocks far above our head, and what of it counts."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.sync.survey import AGAIN_SECONDS, FAR_BLOCKS, RUN_BLOCKS, Survey, run_of
from ledgerd.p2p.wire.messages import GapFillReply, GapFillRequest, GetBlockRange, Message
from ledgerd.protocol.blocks.block import Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from tests.chain.networks import OTHERS, VIZ, Network
from tests.p2p.conftest import Begin
from tests.p2p.scripted_talk import Talk

HEAD = 112
NEEDED = 5
"""Two thirds of seven."""


def survey_of(talk: Talk) -> Survey:
    return talk.network.intake.survey


def far_blocks(others: Network, count: int = FAR_BLOCKS + 20) -> list[Block]:
    return others.produce(count)


def met_far(talk: Talk, top: int, host: str = "") -> int:
    return talk.meet(host, head_block_num=top, dlt_latest_block=top)


def asked_far(talk: Talk, peer: int) -> list[tuple[int, ...]]:
    """What the survey has asked of a peer."""
    return [
        message.block_nums
        for message in talk.sent.get(peer, [])
        if isinstance(message, GapFillRequest) and message.block_nums[0] > HEAD + 1
    ]


def answer(talk: Talk, peer: int, blocks: list[Block]) -> None:
    talk.say(peer, GapFillReply(tuple(blocks)))


def forged(count: int, top: int) -> list[Block]:
    """Blocks that follow one another, in the names of all validators, by somebody else."""
    key, names = PrivateKey(b"\5" * 32), (*OTHERS, VIZ)
    previous, blocks = BlockId((top - count).to_bytes(4, "big") + bytes(16)), list[Block]()
    for place in range(count):
        header = BlockHeader(previous, 1_800_001_000 + 3 * place, names[place % 7], MerkleRoot(bytes(20)), ())
        blocks.append(sign_block(header, (), key))
        previous = blocks[-1].id
    return blocks


def test_nobody_is_asked_before_we_stand_still_for_a_while(talk: Talk) -> None:
    peer = met_far(talk, HEAD + FAR_BLOCKS + 20)
    talk.wait(25)
    assert asked_far(talk, peer) == []
    talk.wait(10)
    top = HEAD + FAR_BLOCKS + 20
    assert asked_far(talk, peer) == [tuple(range(top - RUN_BLOCKS + 1, top + 1))]
    talk.wait(AGAIN_SECONDS)
    assert len(asked_far(talk, peer)) == 2


def test_a_run_that_two_thirds_have_signed_is_proof(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    peer = met_far(talk, blocks[-1].number)
    talk.wait(35)
    answer(talk, peer, blocks[-RUN_BLOCKS:])

    sight = survey_of(talk).summary()

    assert (sight.head, sight.needed, sight.claiming) == (HEAD, NEEDED, 1)
    assert (sight.signers, sight.highest) == (7, blocks[-1].number)
    assert sight.is_ahead_known
    assert survey_of(talk).proven_peers == {peer}


def test_blocks_that_others_have_signed_are_none(talk: Talk) -> None:
    top = HEAD + FAR_BLOCKS + 20
    peer = met_far(talk, top)
    talk.wait(35)
    answer(talk, peer, forged(RUN_BLOCKS, top))

    sight = survey_of(talk).summary()

    assert (sight.claiming, sight.signers, sight.highest) == (1, 0, 0)
    assert not sight.is_ahead_known


def test_few_signers_are_none(talk: Talk, others: Network) -> None:
    names = set(OTHERS[: NEEDED - 1])
    blocks = list[Block]()
    while len(blocks) < FAR_BLOCKS + 20:
        skipped = next(n for n in range(20) if others.chain.scheduled_at(1 + n) in names)
        blocks += others.produce(1, skipped=skipped)
    peer = met_far(talk, blocks[-1].number)
    talk.wait(35)
    answer(talk, peer, blocks[-RUN_BLOCKS:])
    assert survey_of(talk).summary().signers == NEEDED - 1
    assert not survey_of(talk).summary().is_ahead_known


def test_real_blocks_that_do_not_follow_one_another_are_none(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)[-RUN_BLOCKS:]
    peer = met_far(talk, blocks[-1].number)
    talk.wait(35)
    answer(talk, peer, blocks[::2])
    assert survey_of(talk).summary().signers <= 1


def test_blocks_that_were_not_asked_for_are_not_looked_at(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    peer = met_far(talk, blocks[-1].number)
    answer(talk, peer, blocks[-RUN_BLOCKS:])
    assert survey_of(talk).summary().signers == 0


def test_a_claim_far_beyond_our_clock_is_followed_up(talk: Talk) -> None:
    """The limit by our clock is for syncs: whoever stands on a short branch would never hear of a longer one."""
    peer = met_far(talk, 1_000_000)
    talk.wait(35)
    assert asked_far(talk, peer) == [tuple(range(1_000_000 - RUN_BLOCKS + 1, 1_000_001))]


def test_proof_ends_when_the_distance_does(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    peer = met_far(talk, blocks[-1].number)
    talk.wait(35)
    answer(talk, peer, blocks[-RUN_BLOCKS:])
    for block in blocks:
        talk.chain.push_block(block).or_raise()
    talk.now = float(talk.chain.head_time + 3)
    talk.wait(5)
    sight = survey_of(talk).summary()
    assert not sight.is_ahead_known
    assert sight.is_in_step
    assert not sight._replace(age=61.0).is_in_step
    assert not sight._replace(own_signers=NEEDED - 1).is_in_step


def test_claims_of_two_trusted_peers_count_by_their_names(talk_with: Begin) -> None:
    talk = talk_with(Settings(trusted_hosts=("62.9.0.1", "62.9.1.1")))
    met_far(talk, 900, "62.9.0.1")
    met_far(talk, 950, "62.9.0.1")
    assert (survey_of(talk).summary().trusted, survey_of(talk).summary().highest) == (1, 0)
    met_far(talk, 800, "62.9.1.1")
    sight = survey_of(talk).summary()
    assert (sight.trusted, sight.highest) == (2, 800)
    assert sight.is_ahead_known


def test_a_block_is_confirmed_by_what_stands_on_it(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    wanted = blocks[100]
    peer = met_far(talk, blocks[-1].number)
    survey_of(talk).confirm(wanted.number, wanted.id)
    talk.wait(5)
    assert asked_far(talk, peer) == [tuple(range(wanted.number, wanted.number + RUN_BLOCKS))]
    answer(talk, peer, blocks[100 : 100 + NEEDED - 1])
    assert survey_of(talk).is_confirmed is None
    talk.wait(AGAIN_SECONDS)
    answer(talk, peer, blocks[100 : 100 + RUN_BLOCKS])
    assert survey_of(talk).is_confirmed is True


def test_another_block_in_its_place_denies_it(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    peer = met_far(talk, blocks[-1].number)
    survey_of(talk).confirm(blocks[100].number, BlockId(b"\1" * 20))
    talk.wait(5)
    answer(talk, peer, forged(RUN_BLOCKS, blocks[100].number + RUN_BLOCKS - 1))
    assert survey_of(talk).is_confirmed is None, "made up blocks deny nothing"
    talk.wait(AGAIN_SECONDS)
    answer(talk, peer, blocks[100 : 100 + RUN_BLOCKS])
    assert survey_of(talk).is_confirmed is False


def test_two_trusted_peers_confirm_a_block_without_others_on_it(talk_with: Begin, others: Network) -> None:
    talk = talk_with(Settings(trusted_hosts=("62.9.0.1", "62.9.1.1")))
    block = far_blocks(others)[-1]
    peers = [met_far(talk, block.number, host) for host in ("62.9.0.1", "62.9.1.1", "62.9.2.1")]
    survey_of(talk).confirm(block.number, block.id)
    talk.wait(5)
    answer(talk, peers[2], [block])
    answer(talk, peers[0], [block])
    assert survey_of(talk).is_confirmed is None
    answer(talk, peers[1], [block])
    assert survey_of(talk).is_confirmed is True


def test_so_many_are_asked_at_once(talk: Talk) -> None:
    peers = [met_far(talk, HEAD + FAR_BLOCKS + 20) for _ in range(12)]
    talk.wait(35)
    assert sum(bool(asked_far(talk, peer)) for peer in peers) == 4
    talk.wait(10)
    assert all(asked_far(talk, peer) for peer in peers)


def test_after_a_dead_end_those_on_the_way_of_the_network_are_asked_first(talk: Talk, others: Network) -> None:
    blocks = far_blocks(others)
    honest, other = met_far(talk, blocks[-1].number), met_far(talk, blocks[-1].number)
    talk.wait(35)
    answer(talk, honest, blocks[-RUN_BLOCKS:])
    sent = {peer: len(talk.sent[peer]) for peer in (honest, other)}

    talk.network.ask_again(talk.now)
    talk.run_actions()

    def ranges(peer: int) -> list[Message]:
        return [each for each in talk.sent[peer][sent[peer] :] if isinstance(each, GetBlockRange)]

    assert ranges(honest)
    assert not ranges(other)


def test_the_last_of_what_follows_is_a_run(others: Network) -> None:
    blocks = others.produce(6)
    assert run_of(tuple(blocks)) == blocks
    assert run_of((*blocks[:2], *blocks[3:])) == blocks[3:]
    assert run_of((replace(blocks[0], validator="x"),)) != []
    assert run_of(()) == []
