"""A producer whose key is at a signer: the question between two ticks, the block of it, and slots without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.producer.loop import run
from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.signing.signer_place import CertifiedPlace, SignerPlace
from ledgerd.producer.signing.signing_frames import SignerAnswer, SigningQuestion, SigningVerdict
from ledgerd.producer.signing.signings import SignerReply
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.blocks.block import BlockHeader
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.signer.rule import ClockReading, SigningRule
from ledgerd.signer.service import SigningService
from tests.chain.networks import VIZ, VIZ_KEY, Network
from tests.producer.virtual_time import SETTINGS, Station, World
from tests.signer.headers import Memory

REMOTE = replace(SETTINGS, names=(VIZ,), keys={}, signer=CertifiedPlace(SignerPlace(path=Path("/signer"))))
MOST = 400


class Remote(Station):
    """A producer, and the signer that it asks."""

    def __init__(self, folder: Path, world: World) -> None:
        super().__init__(folder, world, REMOTE)
        rule = SigningRule({VIZ_KEY.public: VIZ_KEY}, [VIZ], Memory(), has_stopped_cleanly=True)
        self.service = SigningService(rule, lambda: ClockReading(world.true), [VIZ], [VIZ_KEY.public])
        self.asked: list[BlockHeader] = []
        self.is_on_chain = False
        self.answer: Callable[[SigningQuestion], SignerAnswer | None] = self.service.answer

    async def sign(self, key: PublicKey, header: BlockHeader) -> SignerReply:
        assert not self.is_on_chain, "the chain would wait for the signer"
        self.asked.append(header)
        self.world.true += SECOND // 100
        answer = self.answer(SigningQuestion(1, key, header))
        return SignerReply(answer, "" if answer else "it is away")

    def live(self, blocks: int) -> None:
        """Run its loop until its head is so many blocks higher, or nothing more comes of it."""
        end = self.chain.head_number + blocks

        async def on_chain(job: Callable[[], int]) -> int:
            self.is_on_chain = True
            try:
                return job()
            finally:
                self.is_on_chain = False

        left = MOST

        async def sleep(seconds: float) -> None:
            nonlocal left
            left -= 1
            if self.chain.head_number >= end or not left:
                raise asyncio.CancelledError
            self.world.true += int(seconds * SECOND)

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run(self.producer, on_chain, self.clock, sleep, self.sign))


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    network = Network(tmp_path)
    network.start()
    world = World()
    world.true = network.chain.head_time * SECOND
    network.chain.close()
    with Remote(tmp_path, world) as station:
        yield station


def test_blocks_are_made_with_the_signatures_of_the_signer(remote: Remote) -> None:
    head = remote.chain.head_number
    remote.live(3)

    blocks = [remote.chain.block_at(number) for number in range(head + 1, head + 4)]
    assert [block is not None and block.signee for block in blocks] == [VIZ_KEY.public] * 3
    assert [header.timestamp for header in remote.asked] == [block.timestamp for block in blocks if block is not None]
    assert remote.signed.time == remote.chain.head_time


def test_a_signer_that_is_away_costs_its_slots_which_are_told_and_counted(
    remote: Remote, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is asked for once; when the signer is back, so is production, and no other key is ever used."""
    away = 3

    def at_times(question: SigningQuestion) -> SignerAnswer | None:
        return None if len(remote.asked) <= away else remote.service.answer(question)

    remote.answer = at_times
    remote.live(1)

    assert len(remote.asked) == away + 1
    assert len({header.timestamp for header in remote.asked}) == away + 1
    assert "the signer has not signed it: it is away" in caplog.text
    assert remote.producer.streaks.lost == {TickOutcome.SIGNER_AWAY: away}
    assert caplog.text.count("MISSED-SLOT-OUR-VALIDATOR") == away
    assert "didn't wake up" not in caplog.text


def test_a_slot_that_the_signer_gave_to_another_node_is_no_fault(
    remote: Remote, caplog: pytest.LogCaptureFixture
) -> None:
    remote.answer = lambda question: SignerAnswer(
        question.number, SigningVerdict.SIGNED_ANOTHER, b"block 7 is on the way"
    )
    remote.live(1)

    assert len(remote.asked) > 1
    assert all(record.levelname != "ERROR" for record in caplog.records if "another node has" in record.getMessage())
    assert remote.chain.head_time < remote.asked[0].timestamp


def test_a_signature_of_something_else_is_not_used(remote: Remote) -> None:
    remote.answer = lambda question: SignerAnswer(question.number, SigningVerdict.SIGNED, bytes(65))
    head = remote.chain.head_id
    remote.live(1)

    assert len(remote.asked) > 1
    assert remote.chain.head_id == head
    assert remote.signed.time < remote.asked[0].timestamp


def test_a_block_is_not_used_when_production_was_held_while_the_signer_was_asked(remote: Remote) -> None:
    def held(question: SigningQuestion) -> SignerAnswer:
        remote.producer.signing_refusal = lambda: "the node leaves a dead end"
        return remote.service.answer(question)

    remote.answer = held
    head = remote.chain.head_id
    remote.live(1)

    assert len(remote.asked) == 1
    assert remote.chain.head_id == head
    assert remote.signed.time < remote.asked[0].timestamp


def test_own_slots_are_known_without_a_key(remote: Remote) -> None:
    assert remote.producer.seconds_to_own_slot() is not None
