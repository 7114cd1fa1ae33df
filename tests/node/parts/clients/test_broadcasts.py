"""What clients broadcast, in whose turn it is heard, and what each of them and all together may cost."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import cast

import pytest
from msgspec.structs import replace

from ledgerd.chain.chain import Chain
from ledgerd.chain.rules.transactions.bounds import TRANSACTION_SECONDS
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.broadcasts import (
    CLIENT_SIGNATURES,
    CURRENT_SECONDS,
    LOCKED,
    MOST_WAITING,
    MOST_WAITING_BYTES,
    REFUSED_COST,
    BroadcastQueue,
    Broadcasts,
    QueuedBroadcast,
    QuotaExceeded,
)
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.p2p.shared.allowances import MEMBERS_OF_A_SIGNATURE, SIGNATURES, UNPROVEN_BLOCKS, Allowance
from ledgerd.p2p.turns import SHARE_SECONDS
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.topics import Broadcast, packed_topic
from tests.chain.forks.branches import forged
from tests.chain.networks import VIZ, Network
from tests.chain.senders import OnThisThread
from tests.garbage import nothing_stays

PATIENCE = 0.01
"""Seconds that a broadcast may wait for a chain that runs no job."""


class StandingTime(TimeSource):
    """A clock that stands at the head."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self._now = seconds * MICRO

    def wall(self) -> int:
        return self._now


class Busy(OnThisThread):
    """A chain that runs no job, until it does."""

    is_busy = True

    def submit(self, job: Callable[[], object]) -> Future[object]:
        return Future() if self.is_busy else super().submit(job)


class Slow(OnThisThread):
    """A chain that keeps jobs, to run as many as it is told."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self.jobs: deque[Callable[[], object]] = deque()

    def submit(self, job: Callable[[], object]) -> Future[object]:
        self.jobs.append(job)
        return Future()


def broadcasts_of(network: Network, age: int = 0) -> Broadcasts:
    """At so many seconds after the head."""
    part = cast("ChainPart", OnThisThread(network.chain))
    return Broadcasts(part, StandingTime(network.chain.head_time + age), timeout=0)


def payload(transaction: Transaction, share: str = "") -> bytes:
    return packed_topic(Broadcast(transaction.packed, share=share))


def send(broadcasts: Broadcasts, transaction: Transaction, share: str = "") -> None:
    asyncio.run(broadcasts.transaction(payload(transaction, share)))


def flood(broadcasts: Broadcasts, transaction: Transaction, share: str, times: int) -> list[str]:
    """What somebody is answered who sends so many signatures."""
    answers = []
    for _ in range(times):
        try:
            send(broadcasts, transaction, share)
        except (PlainError, RuleViolation) as problem:
            answers.append(str(problem))
    return answers


def payment(network: Network, amount: int) -> Transaction:
    return network.signed(Transfer(VIZ, VIZ, tokens(amount), ""))


def dear(network: Network) -> Transaction:
    signed = payment(network, 1)
    return replace(signed, signatures=signed.signatures * 16)


def test_a_transaction_of_a_client_is_taken_in(network: Network) -> None:
    transaction = payment(network, 1)
    send(broadcasts_of(network), transaction)
    assert transaction in network.chain.waiting


def test_signatures_are_charged_to_who_sends_them(network: Network) -> None:
    broadcasts = broadcasts_of(network)
    answers = flood(broadcasts, dear(network), "203.0.113.1", SIGNATURES // 16 // (1 + REFUSED_COST) + 5)
    assert answers[0] != LOCKED
    assert answers[-1] == LOCKED
    with pytest.raises(PlainError, match=LOCKED):
        send(broadcasts, payment(network, 2), "203.0.113.1")
    for amount in range(2, 60):
        send(broadcasts, payment(network, amount), "203.0.113.2")
    assert len(network.chain.waiting) == 58


def test_one_without_a_signature_costs_as_much_as_one_with_one_and_is_not_decoded_for_ever(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    broadcasts, unsigned = broadcasts_of(network), replace(payment(network, 1), signatures=())
    allowed = SIGNATURES // (1 + REFUSED_COST) + 1
    assert LOCKED not in flood(broadcasts, unsigned, "203.0.113.1", allowed)
    monkeypatch.setattr("ledgerd.node.parts.clients.broadcasts.codec_of", lambda _: pytest.fail("it was decoded"))
    assert flood(broadcasts, unsigned, "203.0.113.1", 3) == [LOCKED] * 3


def test_members_that_are_looked_at_are_charged_as_signatures_are(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is refused for its authority; those who send others' transactions are not charged for it."""
    broadcasts, looks = broadcasts_of(network), 100
    monkeypatch.setattr(Chain, "members_checked", looks * MEMBERS_OF_A_SIGNATURE)
    false = network.signed(Transfer(VIZ, VIZ, tokens(1), ""), key=PrivateKey(b"\1" * 32))
    answers = flood(broadcasts, false, "203.0.113.1", 5)

    allowed = SIGNATURES // ((looks + 1) * (1 + REFUSED_COST)) + 1
    assert [each == LOCKED for each in answers] == [False] * allowed + [True] * (5 - allowed)
    send(broadcasts, payment(network, 2), "203.0.113.2")


def test_time_that_refused_transactions_take_is_charged_as_signatures_are(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    broadcasts = broadcasts_of(network)
    monkeypatch.setattr(Chain, "seconds_spent", TRANSACTION_SECONDS)
    false = network.signed(Transfer(VIZ, VIZ, tokens(1), ""), key=PrivateKey(b"\1" * 32))
    answers = flood(broadcasts, false, "203.0.113.1", 5)

    assert [each == LOCKED for each in answers] == [False] * 3 + [True] * 2
    send(broadcasts, payment(network, 2), "203.0.113.2")


def test_of_what_all_clients_have_each_one_keeps_a_part(network: Network) -> None:
    """A hundred addresses use up what is there for all, and one that is new still has its own part."""
    broadcasts, false = broadcasts_of(network), dear(network)
    answers: list[str] = []
    for number in range(100):
        answers += flood(broadcasts, false, f"203.0.113.{number}", 12)
    assert answers[-1] == LOCKED
    assert sum(each != LOCKED for each in answers) * 16 < CLIENT_SIGNATURES + 100 * 16
    honest = payment(network, 2)
    send(broadcasts, honest, "198.51.100.1")
    assert honest in network.chain.waiting


def test_clients_are_heard_in_turns(network: Network) -> None:
    """One who has sent hundreds before is not heard before one who comes with one."""
    line, heard = BroadcastQueue(network.clock), list[str]()

    def push(asked: Broadcast, _allowance: Allowance) -> None:
        heard.append(asked.share)
        network.clock.now += SHARE_SECONDS

    for share in ("hostile",) * 300 + ("honest",) * 3:
        line.add(QueuedBroadcast(Broadcast(b"", share=share), push, Future()), 0)
    while line:
        line.push_next()
    assert len(heard) == 303
    assert [place for place, share in enumerate(heard) if share == "honest"][-1] < 7


def test_many_of_whom_each_was_refused_are_heard_after_the_others(network: Network) -> None:
    """A hundred addresses wait, each with a block, and none of them has cost more than the honest one."""
    line, heard = BroadcastQueue(network.clock), list[str]()

    def push(asked: Broadcast, _allowance: Allowance) -> None:
        heard.append(asked.share)
        if asked.share != "honest":
            raise RuleViolation("nobody signed it")

    def enter(share: str) -> None:
        line.add(QueuedBroadcast(Broadcast(b"", share=share), push, Future()), 0)

    enter("honest")
    line.push_next()
    for _ in range(2):
        for number in range(100):
            enter(f"hostile {number}")
    for _ in range(100):
        line.push_next()
    enter("honest")
    enter("newcomer")
    line.push_next()
    line.push_next()
    assert sorted(heard[-2:]) == ["honest", "newcomer"]


def test_a_broadcast_is_answered_when_it_was_heard_though_jobs_of_others_are_before_its_own(network: Network) -> None:
    slow, honest = Slow(network.chain), payment(network, 1)
    broadcasts = Broadcasts(cast("ChainPart", slow), StandingTime(network.chain.head_time), timeout=0)

    async def scene() -> None:
        flood = [asyncio.ensure_future(broadcasts.transaction(payload(dear(network), "hostile"))) for _ in range(50)]
        asked = asyncio.ensure_future(broadcasts.transaction(payload(honest, "honest")))
        await asyncio.sleep(0)
        for _ in range(2):
            slow.jobs.popleft()()
        await asked
        for each in flood:
            each.cancel()
        await asyncio.wait(flood)

    asyncio.run(scene())
    assert list(network.chain.waiting) == [honest]


@pytest.mark.parametrize(("each", "most"), [(b"", MOST_WAITING), (bytes(1 << 20), MOST_WAITING_BYTES >> 20)])
def test_so_many_broadcasts_wait_and_who_has_most_there_is_refused(network: Network, each: bytes, most: int) -> None:
    line = BroadcastQueue(network.clock)

    def enter(share: str) -> QueuedBroadcast:
        waiting = QueuedBroadcast(Broadcast(each, share=share), lambda *_: None, Future())
        line.add(waiting, 0)
        return waiting

    honest = enter("honest")
    hostile = [enter("hostile") for _ in range(2 * most)]
    late = enter("late")
    assert len(line) == most
    assert not honest.done.done()
    assert not late.done.done()
    refused = [one for one in hostile if one.done.done()]
    assert len(refused) == most + 2
    assert isinstance(refused[0].done.exception(), QuotaExceeded)
    while line:
        line.push_next()
    assert honest.done.result() is late.done.result() is None


def test_what_nobody_waits_for_any_more_is_passed_over(network: Network) -> None:
    line, heard = BroadcastQueue(network.clock), list[int]()
    first, second = (
        QueuedBroadcast(Broadcast(b"", number, "one"), lambda asked, _: heard.append(asked.max_block_age), Future())
        for number in (1, 2)
    )
    line.add(first, 0)
    line.add(second, 0)
    first.done.cancel()
    line.push_next()
    assert heard == [2]
    assert len(line) == 0


def test_a_failure_of_a_push_is_answered_and_the_next_is_heard(network: Network) -> None:
    broadcasts = broadcasts_of(network)
    with pytest.raises(RuleViolation):
        send(broadcasts, replace(payment(network, 1), signatures=()))
    send(broadcasts, payment(network, 2))
    assert len(network.chain.waiting) == 1


def test_what_was_refused_does_not_stay_in_memory(network: Network) -> None:
    broadcasts, size = broadcasts_of(network), 200_000

    async def scene() -> None:
        for number in range(20):
            with suppress(RuleViolation):
                await broadcasts.transaction(packed_topic(Broadcast(bytes(size + number), share="one")))

    with nothing_stays(3 * size):
        asyncio.run(scene())


def test_a_broadcast_that_has_waited_too_long_takes_no_turn_of_another(network: Network) -> None:
    busy, late, first = Busy(network.chain), payment(network, 1), payment(network, 2)
    broadcasts = Broadcasts(cast("ChainPart", busy), StandingTime(network.chain.head_time), timeout=PATIENCE)

    async def scene() -> None:
        with pytest.raises(PlainError, match=LOCKED):
            await broadcasts.transaction(payload(late))
        busy.is_busy = False
        await broadcasts.transaction(payload(first))

    asyncio.run(scene())
    assert list(network.chain.waiting) == [first]


def test_a_node_that_catches_up_refuses_transactions_where_that_is_asked_for(network: Network) -> None:
    """Who is refused so has done nothing wrong, and is not heard after others for it."""
    broadcasts, head = broadcasts_of(network, CURRENT_SECONDS + 1), network.chain.head_number
    transaction = payment(network, 1)
    broadcasts.catches_up_to = lambda: head + 50
    with pytest.raises(PlainError, match=f"catching up, .* it has block {head} of {head + 50}"):
        send(broadcasts, transaction, "one")
    assert not network.chain.waiting
    broadcasts.catches_up_to = lambda: 0
    send(broadcasts, transaction, "one")
    assert network.chain.waiting == (transaction,)


def test_a_node_with_a_current_head_refuses_none_whatever_heights_peers_claim(network: Network) -> None:
    broadcasts, transaction = broadcasts_of(network), payment(network, 1)
    broadcasts.catches_up_to = lambda: network.chain.head_number + 20
    send(broadcasts, transaction)
    assert network.chain.waiting == (transaction,)


def test_blocks_of_a_client_that_nobody_signed_are_kept_in_small_number(network: Network) -> None:
    network.produce(1)
    broadcasts, chain = broadcasts_of(network), network.chain

    def push(place: int, share: str) -> None:
        parent = BlockId((chain.head_number + 20).to_bytes(4, "big") + place.to_bytes(16, "big"))
        block = forged(parent, chain.head_time, VIZ)
        asyncio.run(broadcasts.block(packed_topic(Broadcast(block.packed, share=share))))

    for place in range(UNPROVEN_BLOCKS):
        push(place, "203.0.113.1")
    with pytest.raises(PlainError, match=LOCKED):
        push(1_000, "203.0.113.1")
    push(1_001, "203.0.113.2")
    assert len(chain.candidates_at(chain.head_number + 21)) == 0
    assert chain.parts.forks.unlinked_bytes < (UNPROVEN_BLOCKS + 2) * 1_000


def test_a_block_that_nobody_signed_is_not_sent_on_however_often_it_comes(network: Network) -> None:
    """One that its validator signed is, though it cannot be linked either."""
    network.produce(1)
    broadcasts, chain, sent = broadcasts_of(network), network.chain, list[Block]()
    broadcasts.on_block.append(sent.append)
    parent = BlockId((chain.head_number + 20).to_bytes(4, "big") + bytes(16))
    false = forged(parent, chain.head_time, VIZ)
    later = forged(parent, chain.head_time, VIZ, key=network.keys[VIZ])

    for block in (false, false, later):
        asyncio.run(broadcasts.block(packed_topic(Broadcast(block.packed, share="one"))))

    assert sent == [later]


def test_a_block_of_a_client_that_is_too_large_is_not_decoded(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.node.parts.clients.broadcasts.codec_of", None)
    large = bytes(2 * network.chain.globals.maximum_block_size + 1)
    with pytest.raises(RuleViolation, match="Block Size is too Big"):
        asyncio.run(broadcasts_of(network).block(packed_topic(Broadcast(large))))


def test_a_transaction_of_a_client_that_is_too_large_is_not_decoded(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.node.parts.clients.broadcasts.codec_of", None)
    large = bytes(network.chain.globals.maximum_block_size)
    with pytest.raises(RuleViolation, match="trx_size <="):
        asyncio.run(broadcasts_of(network).transaction(packed_topic(Broadcast(large))))
