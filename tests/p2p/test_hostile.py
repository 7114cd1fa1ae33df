"""Whatever peers send: no error leaves the state machine, its bounds hold, and an honest peer is served after it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.chain.chain import Chain
from ledgerd.p2p.wire.frames import HEADER, MAX_PAYLOAD, pack_frame
from ledgerd.p2p.wire.messages import MESSAGES, BlockRangeReply, GetBlockRange
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.p2p.hostile import Hostile
from tests.p2p.scripted_talk import Talk


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_frames_of_all_kinds_damaged_or_out_of_place_break_nothing(chain: Chain, seed: int) -> None:
    hostile = Hostile(chain, seed)
    while hostile.frames < 1_500:
        hostile.go_on()

    hostile.talk.wait(4_000)
    peer = hostile.talk.meet("203.0.113.5")
    answer = hostile.talk.say(peer, GetBlockRange(1, 5, NO_BLOCK))[0]
    assert isinstance(answer, BlockRangeReply)
    assert [block.number for block in answer.blocks] == [1, 2, 3, 4, 5]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=300), max_size=5))
def test_any_bytes_are_survived(chain: Chain, pieces: list[bytes]) -> None:
    talk = Talk(chain)
    peer = talk.accept()
    assert peer is not None
    for piece in pieces:
        talk.send_bytes(peer, piece)
    assert all(each.buffered <= HEADER.size + MAX_PAYLOAD for each in talk.network.core.peers())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(sorted(MESSAGES)), st.binary(max_size=200)), max_size=8))
def test_any_payload_of_any_message_is_survived(chain: Chain, frames: list[tuple[int, bytes]]) -> None:
    talk = Talk(chain)
    peer = talk.meet()
    for number, payload in frames:
        talk.send_bytes(peer, pack_frame(number, payload))
