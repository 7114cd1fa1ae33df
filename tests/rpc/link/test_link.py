"""The link between a worker and the main process: requests, errors, events, and its loss."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress

import pytest

from ledgerd.codec.json.errors import Layer
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.http.routes import NodeHealth
from ledgerd.rpc.link import switchboard
from ledgerd.rpc.link.frames import Reply, TopicEvent, frame
from ledgerd.rpc.link.link import HEAD, Link, Unreachable, Violation
from ledgerd.rpc.link.subscribers import DELIVERED_AT_ONCE, MOST_QUEUED_BYTES, MOST_QUEUED_EVENTS, MOST_UNDELIVERED
from ledgerd.rpc.link.switchboard import Switchboard, WorkerLink
from ledgerd.rpc.link.topics import HEALTH, PENDING, HealthReport, packed_topic
from ledgerd.rpc.worker import attach
from ledgerd.state.errors import UnknownKey
from tests.garbage import nothing_stays
from tests.patience import PATIENCE
from tests.rpc.loopback import play, until
from tests.rpc.sample_api import service

LARGE_QUESTION = 100_000
"""Bytes."""


async def double(payload: bytes) -> bytes:
    return payload * 2


async def refuse(_payload: bytes) -> bytes:
    raise UnknownKey


async def refuse_a_name(_payload: bytes) -> bytes:
    raise RuleViolation("Account name ${n} is invalid", n="\udcff").under("", at=1 << 63)


async def refuse_plainly(_payload: bytes) -> bytes:
    raise PlainError("Unable to acquire READ lock")


async def fail(_payload: bytes) -> bytes:
    raise ZeroDivisionError


async def never(_payload: bytes) -> bytes:
    await asyncio.Event().wait()
    return b""


HANDLERS = {
    "double": double,
    "refuse": refuse,
    "refuse a name": refuse_a_name,
    "plainly": refuse_plainly,
    "fail": fail,
    "never": never,
}


@asynccontextmanager
async def linked(board: Switchboard, link: Link | None = None) -> AsyncIterator[tuple[Link, WorkerLink]]:
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    link, line = link or Link(), board.link(lambda: None)
    near, _ = await loop.create_connection(lambda: line, sock=ours)
    far, _ = await loop.create_connection(lambda: link, sock=theirs)
    try:
        yield link, line
    finally:
        near.abort()
        far.abort()
        await link.lost.wait()


def test_a_question_is_answered() -> None:
    async def scene() -> list[bytes]:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            return await asyncio.gather(*(link.ask("double", b"%d" % number) for number in range(100)))

    assert play(scene) == [b"%d%d" % (number, number) for number in range(100)]


def test_a_violation_arrives_as_it_was_raised() -> None:
    async def scene() -> RuleViolation:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            with pytest.raises(Violation) as caught:
                await link.ask("refuse", b"")
            return caught.value

    ours, theirs = play(scene), UnknownKey()
    assert (ours.code, ours.name, ours.what, ours.layers) == (theirs.code, theirs.name, theirs.what, theirs.layers)


def test_a_violation_with_a_text_that_is_not_utf_8_arrives_and_the_link_stays() -> None:
    async def scene() -> RuleViolation:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            with pytest.raises(Violation) as caught:
                await link.ask("refuse a name", b"")
            assert await link.ask("double", b"1") == b"11"
            return caught.value

    ours = play(scene)

    assert ours.message == "Account name \udcff is invalid"
    assert ours.layers == [Layer("Account name ${n} is invalid", {"n": "\udcff"}), Layer("", {"at": 1 << 63})]


def test_a_plain_error_arrives_as_one() -> None:
    async def scene() -> None:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            with pytest.raises(PlainError, match="Unable to acquire READ lock"):
                await link.ask("plainly", b"")

    play(scene)


@pytest.mark.parametrize("topic", ["fail", "nobody"])
def test_a_fault_of_ours_is_told_without_its_details_and_logged(topic: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            with pytest.raises(Violation, match="log"):
                await link.ask(topic, b"")

    with caplog.at_level(logging.ERROR):
        play(scene)

    assert "ZeroDivisionError" in caplog.text or "KeyError" in caplog.text


def test_what_was_refused_does_not_stay_in_memory() -> None:
    async def scene() -> None:
        async with linked(Switchboard(HANDLERS)) as (link, _):
            with nothing_stays(3 * LARGE_QUESTION):
                for number in range(20):
                    with suppress(PlainError):
                        await link.ask("plainly", bytes(LARGE_QUESTION + number))

    play(scene)


def test_an_answer_that_does_not_come_is_not_waited_for_any_longer() -> None:
    async def scene() -> None:
        async with linked(Switchboard(HANDLERS), Link(answer_seconds=0.01)) as (link, _):
            with pytest.raises(Unreachable, match="too long"):
                await link.ask("never", b"")

    play(scene)


def test_a_lost_link_answers_every_question_and_ends_every_subscription() -> None:
    async def scene() -> None:
        board = Switchboard(HANDLERS)
        async with linked(board) as (link, line):
            asking = asyncio.ensure_future(link.ask("never", b""))
            hearing = asyncio.ensure_future(collect(link, "blocks"))
            await until(lambda: board.has_subscriber("blocks"))
            line.close()
            with pytest.raises(Unreachable):
                await asking
            assert await hearing == []
            with pytest.raises(Unreachable):
                await link.ask("double", b"")
            assert await collect(link, "blocks") == []

    play(scene)


async def collect(link: Link, topic: str, most: int = 1 << 30) -> list[bytes]:
    heard: list[bytes] = []
    async with aclosing(link.events(topic)) as events:
        async for event in events:
            heard.append(event)
            if len(heard) == most:
                break
    return heard


def test_events_come_to_all_who_listen_in_their_order_and_only_while_they_do() -> None:
    async def scene() -> None:
        board = Switchboard({})
        async with linked(board) as (first, here), linked(board) as (second, there):
            hearing = [asyncio.ensure_future(collect(each, "blocks", 3)) for each in (first, first, second)]
            await until(lambda: "blocks" in here.topics and "blocks" in there.topics)
            for number in range(3):
                board.publish("blocks", b"%d" % number)
                board.publish("other", b"x")
            assert await asyncio.gather(*hearing) == [[b"0", b"1", b"2"]] * 3
            await until(lambda: not board.has_subscriber("blocks"))

    play(scene)


def test_who_subscribes_before_a_request_gets_every_event_that_it_causes() -> None:
    async def scene() -> bytes:
        async def publish(payload: bytes) -> bytes:
            board.publish("confirmed", payload)
            return b""

        board = Switchboard({"publish": publish})
        async with linked(board) as (link, _), aclosing(link.events("confirmed")) as events:
            await link.ask("publish", b"transaction")
            return await anext(events)

    assert play(scene) == b"transaction"


def test_a_closed_subscription_yields_no_more_events() -> None:
    async def scene() -> None:
        board = Switchboard({})
        async with linked(board) as (link, _):
            events = link.events("blocks")
            await until(lambda: board.has_subscriber("blocks"))
            with pytest.raises(ZeroDivisionError):
                await events.athrow(ZeroDivisionError())
            assert [event async for event in events] == []
            await events.aclose()
            await until(lambda: not board.has_subscriber("blocks"))

    play(scene)


def test_a_subscriber_that_reads_too_slowly_loses_its_subscription() -> None:
    async def scene() -> None:
        board = Switchboard(HANDLERS)
        async with linked(board) as (link, _):
            async with aclosing(link.events("blocks")) as events:
                await until(lambda: board.has_subscriber("blocks"))
                for _ in range(MOST_QUEUED_EVENTS + 1):
                    board.publish("blocks", b"x")
                assert await link.ask("double", b"") == b""
                heard = [event async for event in events]
            assert len(heard) == MOST_QUEUED_EVENTS - 1

    play(scene)


def test_of_large_events_fewer_are_kept_for_a_subscriber_that_reads_too_slowly() -> None:
    async def scene() -> None:
        board = Switchboard(HANDLERS)
        async with linked(board) as (link, _):
            async with aclosing(link.events("blocks")) as events:
                await until(lambda: board.has_subscriber("blocks"))
                for _ in range(20):
                    board.publish("blocks", bytes(MOST_QUEUED_BYTES // 8))
                    assert await link.ask("double", b"") == b""
                heard = [event async for event in events]
            assert len(heard) == 8

    play(scene)


@pytest.mark.parametrize("count", [1, MOST_UNDELIVERED, 3 * MOST_UNDELIVERED])
def test_very_many_subscribers_are_told_in_parts_and_each_in_the_order_of_events(count: int) -> None:
    async def scene() -> tuple[list[int], list[bytes]]:
        link = Link()
        subscribers = [link.events("blocks") for _ in range(3 * DELIVERED_AT_ONCE)]
        for number in range(count):
            link.data_received(frame(TopicEvent("blocks", b"%d" % number)))
        told = [asyncio.ensure_future(anext(each)) for each in subscribers]
        seen = list[int]()
        while not all(each.done() for each in told):
            await asyncio.sleep(0)
            seen.append(sum(each.done() for each in told))
        rest = [await asyncio.wait_for(anext(subscribers[-1]), PATIENCE) for _ in range(count - 1)]
        for each in subscribers:
            await each.aclose()
        return seen, [told[-1].result(), *rest]

    seen, heard = play(scene)
    assert heard == [b"%d" % number for number in range(count)]
    assert len(seen) >= 3 or count > MOST_UNDELIVERED


def test_a_new_head_clears_the_cache_before_subscribers_get_the_block() -> None:
    async def scene() -> None:
        board, serves = Switchboard({}), service()
        async with linked(board) as (link, _):
            attach(serves, link)
            hearing = asyncio.ensure_future(collect(link, "blocks", 1))
            await until(lambda: board.has_subscriber("blocks"))
            serves.dispatcher.cache.keep(b'{"id":1}', "1", b"x")
            serves.dispatcher.node.memory(list).append("kept")
            board.publish(HEAD, b"")
            board.publish("blocks", b"block")
            await hearing
            assert len(serves.dispatcher.cache) == 0
            assert serves.dispatcher.node.memory(list) == []

    play(scene)


def test_a_worker_that_comes_later_hears_which_parts_are_down() -> None:
    async def scene() -> None:
        board, health = Switchboard({}), NodeHealth()
        news = HealthReport({"webserver": "API worker 0: it has ended"}, ("the disk is nearly full",))
        board.publish_retained(HEALTH, packed_topic(news))
        link = Link()
        link.on(HEALTH, health.receive)
        async with linked(board, link):
            await until(lambda: health.report == news)
            board.publish_retained(HEALTH, packed_topic(HealthReport({})))
            await until(lambda: not health.report.down)

    play(scene)


@pytest.mark.parametrize(("bound", "heard"), [(1_000, [b"three", b"four"]), (30, [])])
def test_a_worker_that_comes_later_hears_of_all_that_waits_or_of_nothing(
    bound: int, heard: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchboard, "MOST_PENDING_BYTES", bound)
    board = Switchboard(HANDLERS)
    for payload in (b"one", b"two", b"", b"three", b"four"):
        board.publish(PENDING, payload)

    async def scene() -> list[bytes]:
        link, came = Link(), list[bytes]()
        link.on(PENDING, came.append)
        async with linked(board, link):
            assert await link.ask("double", b"a") == b"aa"
        return came

    assert play(scene) == heard


def test_a_worker_that_sends_invalid_data_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        board = Switchboard({})
        ours, theirs = socket.socketpair()
        await asyncio.get_running_loop().create_connection(lambda: board.link(lambda: None), sock=ours)
        reader, writer = await asyncio.open_connection(sock=theirs)
        writer.write(frame(Reply(1, b"")))
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()

    with caplog.at_level(logging.ERROR):
        play(scene)

    assert "is cut" in caplog.text
