from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import cast

import pytest

from ledgerd.producer.settings import NtpSettings
from ledgerd.producer.time.clock import SECOND, SteadyClock, wait_before_tick
from ledgerd.producer.time.ntp import (
    AnswerVerdict,
    NtpAnswer,
    NtpOffset,
    Round,
    answer_of,
    from_ntp_time,
    ntp_time,
    request,
)
from ledgerd.producer.time.ntp_client import NtpClient
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.supervision.work import Work

NOW = 1_800_000_000 * SECOND
MS = 1_000


def reply(asked: int, arrived: int, sent: int) -> bytes:
    return bytes(24) + struct.pack(">QQQ", ntp_time(asked), ntp_time(arrived), ntp_time(sent))


def test_a_request_says_when_it_was_sent() -> None:
    packet = request(NOW + 250_000)

    assert len(packet) == 48
    assert packet[0] == 0x08
    assert packet[1:40] == bytes(39)
    assert struct.unpack(">II", packet[40:]) == (1_800_000_000 + 2_208_988_800, 1 << 30)


@pytest.mark.parametrize("time", [0, NOW, NOW + 1, NOW + 999_999, 2_085_978_497 * SECOND + 5])
def test_a_time_survives_the_wire(time: int) -> None:
    assert from_ntp_time(ntp_time(time)) == time


def test_offset_and_delay_are_worked_out_of_four_times() -> None:
    packet = reply(NOW, NOW + 530 * MS, NOW + 531 * MS)

    assert answer_of(packet, NOW + 61 * MS) == NtpAnswer(offset=500 * MS, delay=60 * MS)
    assert answer_of(packet[:47], NOW) is None


def taking(*offsets: int) -> tuple[NtpOffset, list[AnswerVerdict]]:
    known, now, verdicts = NtpOffset(NtpSettings()), NOW, []
    for offset in offsets:
        now += 900 * SECOND
        assert known.begin_round(now)
        verdicts.append(known.judge(NtpAnswer(offset, 10 * MS), now))
    return known, verdicts


def test_the_offset_is_the_average_of_the_last_five() -> None:
    known, _ = taking(*(100 * MS + n for n in (1, 2, 3, 4, 5, 6, 7)))

    assert known.offset == 100 * MS + 5


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (NtpAnswer(0, 150 * MS), AnswerVerdict.ACCEPTED),
        (NtpAnswer(0, 150 * MS + 1), AnswerVerdict.TOO_SLOW),
        (NtpAnswer(86_400 * SECOND, 0), AnswerVerdict.ABSURD),
        (NtpAnswer(-86_400 * SECOND, 0), AnswerVerdict.ABSURD),
        (NtpAnswer(86_400 * SECOND - 1, 0), AnswerVerdict.ACCEPTED),
    ],
)
def test_an_answer_is_judged(answer: NtpAnswer, verdict: AnswerVerdict) -> None:
    known = NtpOffset(NtpSettings())
    known.begin_round(NOW)

    assert known.judge(answer, NOW) is verdict


def test_one_answer_a_round_counts() -> None:
    known = NtpOffset(NtpSettings())
    known.begin_round(NOW)

    assert known.judge(NtpAnswer(5, 0), NOW) is AnswerVerdict.ACCEPTED
    assert known.judge(NtpAnswer(9, 0), NOW) is AnswerVerdict.LATE
    assert not known.begin_round(NOW + 2_999_999)
    assert known.begin_round(NOW + 3 * SECOND)


def test_an_answer_unlike_the_others_is_believed_when_three_agree() -> None:
    known, verdicts = taking(10 * MS, 10 * MS, 900 * MS, 920 * MS, 940 * MS)

    assert verdicts[2:] == [AnswerVerdict.REJECTED, AnswerVerdict.REJECTED, AnswerVerdict.ACCEPTED]
    assert known.offset == 940 * MS


def test_three_that_do_not_agree_are_not_believed() -> None:
    known, verdicts = taking(10 * MS, 10 * MS, 900 * MS, 800 * MS, 900 * MS)

    assert verdicts[2:] == [AnswerVerdict.REJECTED] * 3
    assert known.offset == 10 * MS


def test_servers_are_asked_again_when_the_last_answer_is_old() -> None:
    known, _ = taking(0)
    accepted = NOW + 900 * SECOND

    assert NtpOffset(NtpSettings()).is_due(NOW)
    assert not known.is_due(accepted + 894 * SECOND)
    assert known.is_due(accepted + 895 * SECOND)


def agreed(*offsets: int, silent: int = 0, is_over: bool = False) -> int | None:
    """What is believed of servers that have answered with these offsets, beside so many that have not."""
    asked = Round()
    for place in range(len(offsets) + silent):
        asked.ask((f"10.0.0.{place}", 123), request(NOW))
    for place, offset in enumerate(offsets):
        asked.count((f"10.0.0.{place}", 123), NtpAnswer(offset, 10 * MS))
    choice = asked.choice(is_over=is_over)
    return None if choice is None else choice.offset


HOURS = 5 * 3600 * SECOND


def test_one_lying_server_of_three_is_not_believed_however_fast_it_is() -> None:
    assert agreed(HOURS, silent=2) is None
    assert agreed(HOURS, 20 * MS, silent=1) is None
    assert agreed(HOURS, 20 * MS, 21 * MS) == 20 * MS
    assert agreed(HOURS, 20 * MS, silent=1, is_over=True) is None


def test_where_one_of_several_servers_answers_it_is_believed_within_seconds() -> None:
    assert agreed(20 * MS, silent=2) is None
    assert agreed(20 * MS, silent=2, is_over=True) == 20 * MS
    assert agreed(-HOURS, silent=2, is_over=True) is None
    assert agreed(HOURS) == HOURS, "where one server is asked, there is nothing to compare it with"


def test_an_answer_to_no_question_of_ours_is_not_taken() -> None:
    asked, server = Round(), ("10.0.0.1", 123)
    asked.ask(server, request(NOW))
    genuine = reply(NOW, NOW, NOW)

    assert asked.answer(server, reply(NOW + MS, NOW + HOURS, NOW + HOURS), NOW) is None
    assert asked.answer(("10.0.0.2", 123), genuine, NOW) is None
    answer = asked.answer(server, genuine, NOW)
    assert answer is not None
    asked.count(server, answer)
    assert asked.answer(server, genuine, NOW) is None


class Server(asyncio.DatagramProtocol):
    """A time server of a clock that is two seconds ahead, or so much more."""

    def __init__(self, clock: Callable[[], int], ahead: int = 2 * SECOND) -> None:
        self.clock = clock
        self.ahead = ahead
        self.asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.asked += 1
        (asked,) = struct.unpack(">Q", data[40:48])
        there = self.clock() + self.ahead
        self.transport.sendto(bytes(24) + struct.pack(">QQQ", asked, ntp_time(there), ntp_time(there)), addr)


def test_a_server_on_this_machine_tells_its_time() -> None:
    async def scene() -> int:
        loop = asyncio.get_running_loop()
        start = loop.time()

        def wall() -> int:
            return NOW + int((loop.time() - start) * SECOND)

        transport, server = await loop.create_datagram_endpoint(lambda: Server(wall), local_addr=("127.0.0.1", 0))
        port = transport.get_extra_info("sockname")[1]
        client = NtpClient(NtpSettings(servers=(Endpoint("127.0.0.1", port),), round_trip_threshold=5_000), wall)
        task = asyncio.create_task(client.run(Work("validator")))
        async with asyncio.timeout(60):
            await client.answered.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        transport.close()
        await asyncio.sleep(0)
        assert server.asked == 1
        return client.offset

    assert asyncio.run(scene()) == pytest.approx(2 * SECOND, abs=SECOND // 2)


def test_a_server_that_is_hours_away_is_outvoted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(*ahead: int) -> int | None:
        loop = asyncio.get_running_loop()
        start = loop.time()

        def wall() -> int:
            return NOW + int((loop.time() - start) * SECOND)

        transports = []
        for each in ahead:
            made, _ = await loop.create_datagram_endpoint(lambda: Server(wall, each), local_addr=("127.0.0.1", 0))  # noqa: B023 - called at once
            transports.append(made)
        servers = tuple(Endpoint("127.0.0.1", made.get_extra_info("sockname")[1]) for made in transports)
        client = NtpClient(NtpSettings(servers=servers, round_trip_threshold=5_000), wall)
        task = asyncio.create_task(client.run(Work("validator")))
        async with asyncio.timeout(60):
            while not client.answered.is_set() and "do not agree" not in caplog.text:  # noqa: ASYNC110 - a log line sets no event
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for made in transports:
            made.close()
        await asyncio.sleep(0)
        return client.known.offset

    assert asyncio.run(scene(HOURS, 0, 0)) == pytest.approx(0, abs=SECOND // 2)
    assert "do not agree" not in caplog.text
    assert asyncio.run(scene(HOURS, 0)) is None
    assert "time servers do not agree on our clock, and none is believed" in caplog.text


@pytest.mark.parametrize(
    ("now", "wait"),
    [(0, 250_000), (1, 249_999), (199_999, 50_001), (200_000, 50_000), (200_001, 299_999), (249_999, 250_001)],
)
def test_ticks_come_four_times_a_second(now: int, wait: int) -> None:
    assert wait_before_tick(NOW + now) == wait


class Clocks:
    def __init__(self) -> None:
        self.steady = 0
        self.wall = NOW

    def pass_by(self, micros: int) -> None:
        self.steady += micros
        self.wall += micros


def test_a_small_step_of_the_wall_clock_is_slewed() -> None:
    clocks = Clocks()
    clock = SteadyClock(lambda: clocks.steady, lambda: clocks.wall)
    clocks.wall += 2 * SECOND
    seen = []
    for _ in range(12):
        clocks.pass_by(SECOND)
        seen.append(clock())

    assert {b - a for a, b in pairwise(seen[:9])} == {SECOND * 6 // 5}
    assert seen[-1] == clocks.wall


@pytest.mark.parametrize("step", [-60, -4, 4, 60])
def test_a_large_step_is_followed_at_once(step: int) -> None:
    clocks = Clocks()
    clock = SteadyClock(lambda: clocks.steady, lambda: clocks.wall)
    clocks.pass_by(SECOND)
    clocks.wall += step * SECOND

    assert clock() == clocks.wall


def test_the_offset_of_the_time_servers_counts() -> None:
    clocks = Clocks()

    assert SteadyClock(lambda: clocks.steady, lambda: clocks.wall, lambda: 40 * MS)() == NOW + 40 * MS
