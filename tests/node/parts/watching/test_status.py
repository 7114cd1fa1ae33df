"""How a node stands: what is told, to whom, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.watching.status import LIVE_SECONDS, OLDEST, StatusPart, counts_of, peers_of
from ledgerd.p2p.driver import Driver
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.rpc.api.node.node_status import UNKNOWN, NodeDetails, NodeStatus, details_of, status_of
from ledgerd.rpc.link.topics import DETAILS, STATUS
from ledgerd.supervision.health import HealthStatus
from tests.chain.networks import VIZ, Network
from tests.node.contexts import context_of
from tests.p2p.scripted_talk import Talk


class Stage:
    """A chain, a clock, and what is told."""

    def __init__(self, folder: Path, *, has_operator: bool = False) -> None:
        self.network = Network(folder)
        self.network.start()
        self.now, self.steady = float(self.network.chain.head_time), 100.0
        self.driver: Driver | None = None
        self.statuses: list[NodeStatus] = []
        self.details: list[NodeDetails] = []
        time: Any = SimpleNamespace(wall_seconds=lambda: self.now, seconds=lambda: self.steady)
        peers: Any = SimpleNamespace(driver=None)
        self.peers = peers
        operator = {"metrics-endpoint": ["127.0.0.1:9"]} if has_operator else {}
        context = context_of(StatusPart, read_configuration({"data-dir": [str(folder)], **operator}, folder), time)
        stage: Any = self
        self.part = StatusPart(context, stage, stage, peers, stage, stage)

    def facts(self) -> tuple[()]:
        """No validator is monitored."""
        return ()

    def publish_retained(self, topic: str, payload: bytes) -> None:
        if topic == STATUS:
            self.statuses.append(status_of(payload))
        else:
            assert topic == DETAILS
            self.details.append(details_of(payload))

    async def attach(self, attachment: Callable[[Any], None]) -> None:
        attachment(self.network.chain)

    async def run(self, job: Callable[[], Any]) -> Any:
        return job()

    def begin(self) -> None:
        async def scene() -> None:
            await self.part.start()
            await asyncio.sleep(0)
            await self.part.stop()

        asyncio.run(scene())

    def produce(self, skipped: int = 0) -> None:
        self.now = self.network.chain.slot_time(1 + skipped) + 0.25
        self.network.produce(skipped=skipped)


@pytest.fixture
def talk(stage: Stage) -> Talk:
    """The same node among peers."""
    return Talk(stage.network.chain)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "chain")
    made.begin()
    yield made
    made.network.chain.close()


def test_each_new_block_is_told_at_once(stage: Stage) -> None:
    stage.statuses.clear()
    stage.produce()
    stage.produce(skipped=1)

    chain = stage.network.chain
    assert [status.head for status in stage.statuses] == [chain.head_number - 1, chain.head_number]
    last = stage.statuses[-1]
    assert (last.head_time, last.irreversible) == (chain.head_time, chain.irreversible)
    assert [slot.block for slot in last.slots[-3:]] == [chain.head_number - 1, 0, chain.head_number]
    assert last.slots[-1].delay == 250
    assert (last.network, last.participation) == ("VIZTEST", chain.globals.participation_count)
    assert [status.number for status in stage.statuses] == [2, 3]


def test_blocks_of_one_commit_are_told_once(stage: Stage) -> None:
    chain = stage.network.chain
    stage.statuses.clear()
    for _ in range(3):
        stage.now = chain.slot_time(1) + 0.25
        chain.push_block(stage.network.make(), commit=False).or_raise()
    chain.commit()

    assert [status.head for status in stage.statuses] == [chain.head_number]
    assert [slot.block for slot in stage.statuses[-1].slots[-2:]] == [chain.head_number - 1, chain.head_number]


def test_without_a_change_nothing_is_told_until_the_last_status_is_old(stage: Stage) -> None:
    stage.produce()
    stage.statuses.clear()
    stage.now += 1
    stage.part.publish()
    assert stage.statuses == []
    stage.now += OLDEST / 1_000
    stage.part.publish()
    assert [status.time for status in stage.statuses] == [round(1_000 * stage.now)]


def test_a_waiting_transaction_is_counted(stage: Stage) -> None:
    stage.network.send(Transfer(VIZ, VIZ, tokens(1), ""))
    stage.part.publish()
    assert stage.statuses[-1].pool.waiting == 1


def test_blocks_of_a_sync_are_not_told_one_by_one(stage: Stage) -> None:
    stage.statuses.clear()
    stage.now += 100 * LIVE_SECONDS
    stage.network.produce(5)
    assert stage.statuses == []
    stage.part.publish()
    assert [status.head for status in stage.statuses] == [stage.network.chain.head_number]
    assert stage.statuses[-1].slots[-1].block == stage.network.chain.head_number


def test_details_are_told_only_where_they_are_asked_for(tmp_path: Path, stage: Stage) -> None:
    stage.produce()
    assert stage.details == []
    other = Stage(tmp_path / "other", has_operator=True)
    other.part.health_changed(HealthStatus({"webserver": "API worker 1: exit code -9"}))
    other.begin()
    assert other.details[-1].status == other.statuses[-1]
    other.network.chain.close()
    assert other.details[-1].problems[0].text == "webserver is down: API worker 1: exit code -9"


def test_peers_are_counted_by_their_heights_and_told_by_address_to_the_operator_alone(talk: Talk) -> None:
    talk.now += 30_000
    head = talk.network.core.chain.head_number
    heads = {"62.1.1.1": head - 1, "62.2.1.1": head, "62.3.1.1": head, "62.4.1.1": 500}
    for host, claimed in heads.items():
        talk.meet(host, head_block_num=claimed)
    peers = talk.network.core.peers()
    driver: Any = SimpleNamespace(network=talk.network, round_trips=lambda: iter([(peers[1].id, 0.0254)]))
    counts = counts_of(driver, head)

    assert (counts.ahead, counts.level, counts.behind) == (1, 2, 1)
    assert (counts.connections, counts.highest) == (4, 500)
    assert "62." not in repr(counts)
    peers[2].pushed_late = 0.3
    facts = peers_of(driver, talk.now)
    assert [each.address.rpartition(":")[0] for each in facts] == [*heads]
    assert [each.head for each in facts] == [*heads.values()]
    assert [each.round_trip for each in facts] == [UNKNOWN, 25, UNKNOWN, UNKNOWN]
    assert [each.delay for each in facts] == [UNKNOWN, UNKNOWN, 300, UNKNOWN]


def test_the_time_left_of_a_sync_follows_from_its_rate(stage: Stage, talk: Talk) -> None:
    talk.now += 30_000
    talk.meet(head_block_num=1_100, dlt_latest_block=1_100)
    stage.peers.driver = SimpleNamespace(network=talk.network)
    stage.part.publish()
    head = stage.network.chain.head_number
    stage.steady += 5
    stage.network.produce(10)
    stage.part.publish()

    sync = stage.statuses[-1].sync
    assert (sync.target, sync.blocks_a_second) == (1_100, 2)
    assert sync.seconds_left == (1_100 - head - 10) // 2
