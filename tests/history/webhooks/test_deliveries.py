"""A receiver has each operation of the final chain once by its id, whatever fails, is killed or forks."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.log.histories import Wanted
from ledgerd.history.webhooks import deliveries
from ledgerd.history.webhooks.deliveries import Deliveries, QueueFull
from ledgerd.history.webhooks.position import HookPosition
from tests.rpc.api.history.test_stream import Story

ALL = Wanted()


class Receiver:
    """Keeps what it got by id, and drops what was undone: an exchange in small."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}
        self.order: list[str] = []
        self.undone = 0

    def take(self, body: bytes) -> None:
        for event in json.loads(body)["events"]:
            if "undone_from" in event:
                self.undone += 1
                self.order = [each for each in self.order if self.seen[each]["block"] < event["undone_from"]]
            elif event["id"] not in self.order:
                self.seen.setdefault(event["id"], event["operation"])
                assert self.seen[event["id"]] == event["operation"], "an id has one meaning"
                self.order.append(event["id"])

    @property
    def operations(self) -> list[Any]:
        return [self.seen[each] for each in self.order]


@settings(max_examples=10)
@given(seed=st.integers(0, 1 << 32), reversible=st.booleans(), most=st.sampled_from([1, 2, 100]))
def test_each_operation_of_the_final_chain_has_come(seed: int, reversible: bool, most: int) -> None:
    """Deliveries fail before or behind the receiver; the process is killed, and goes on from what was stored."""
    random = Random(seed)  # noqa: S311 - a story, no secret
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(deliveries, "MOST_EVENTS", most)
        patch.setattr(deliveries, "EXAMINED", random.choice([1, 7, 250]))
        story, receiver, stored = Story(Path(name), random), Receiver(), HookPosition(next_block=1)
        queue = Deliveries(story.history, ALL, stored, 10**6, reversible=reversible)
        for step in range(50):
            story.step()
            is_last = step == 49
            if is_last:
                story.end()
            while is_last or random.random() < 0.7:
                delivery = queue.next()
                if delivery is None:
                    break
                stored = delivery.attempted
                happens = "taken" if is_last else random.choice(["taken", "taken", "lost", "answer lost", "killed"])
                if happens != "lost":
                    receiver.take(delivery.body)
                if happens == "taken":
                    stored = delivery.acknowledged
                queue.position = stored
                if happens == "killed":
                    queue = Deliveries(story.history, ALL, stored, 10**6, reversible=reversible)
        assert receiver.operations == story.expected(len(story.teller.trunk))
        assert reversible or not receiver.undone
        story.close()


def test_an_operation_has_the_same_id_each_time_and_another_on_another_branch(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    story.teller.block([[1]])
    story.teller.commit()
    queue = Deliveries(story.history, ALL, HookPosition(next_block=1), 10, reversible=True)
    first, again = queue.next(), queue.next()
    assert first is not None
    assert first == again
    queue.position = first.attempted
    story.teller.undo(1)
    story.teller.block([[2]])
    story.teller.commit()
    undone = queue.next()
    assert undone is not None
    event, *_ = json.loads(first.body)["events"]
    assert json.loads(undone.body)["events"] == [{"id": f"undo-1-{event['id'].split('-')[-1]}", "undone_from": 1}]
    queue.position = undone.acknowledged
    other = queue.next()
    assert other is not None
    assert json.loads(other.body)["events"][0]["id"] != event["id"]
    story.close()


def test_reversible_blocks_wait_unless_they_are_asked_for(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    story.teller.block([[1]])
    story.teller.commit()
    queue = Deliveries(story.history, ALL, HookPosition(next_block=1), 10, reversible=False)
    assert queue.next() is None
    story.end()
    assert queue.next() is not None
    story.close()


def test_a_delivery_has_a_bounded_number_of_events_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    story.teller.block([list(range(90)) for _ in range(5)])
    story.end()
    queue, sizes = Deliveries(story.history, ALL, HookPosition(next_block=1), 10, reversible=False), []
    while (delivery := queue.next()) is not None:
        sizes.append(len(json.loads(delivery.body)["events"]))
        queue.position = delivery.acknowledged
    assert max(sizes) == deliveries.MOST_EVENTS < sum(sizes)
    monkeypatch.setattr(deliveries, "MOST_BYTES", 1_000)
    queue.position = HookPosition(next_block=1)
    bounded = queue.next()
    assert bounded is not None
    assert len(bounded.body) < 2_000
    story.close()


def test_the_queue_ends_when_more_waits_than_may(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    for number in range(11):
        story.teller.block([[number]])
    story.end()
    queue = Deliveries(story.history, ALL, HookPosition(next_block=1), 10, reversible=False)
    with pytest.raises(QueueFull, match="11 blocks wait for it, and at most 10 may"):
        queue.next()
    queue.position = HookPosition(next_block=2)
    assert queue.next() is not None
    story.close()


def test_a_new_hook_begins_behind_the_last_block(tmp_path: Path) -> None:
    story = Story(tmp_path, Random(1))  # noqa: S311
    story.teller.block([[1]])
    story.end()
    queue = Deliveries(story.history, ALL, HookPosition(), 10, reversible=False)
    assert queue.next() is None
    assert queue.position.next_block == 2
    started = Deliveries(story.history, ALL, HookPosition(), 10, reversible=False, start=1)
    assert started.next() is not None
    story.close()
