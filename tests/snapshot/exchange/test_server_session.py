"""Serving: who is let in, what is answered, and when a connection ends; with a time that is handed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange.frames import (
    DataReply,
    DataRequest,
    Denial,
    InfoReply,
    InfoRequest,
    NoSnapshot,
    SnapshotMessage,
)
from ledgerd.snapshot.exchange.server_session import (
    LARGEST_PART,
    LONGEST_SECONDS,
    MOST_ADDRESSES,
    SLOWEST,
    AdmissionControl,
    Answer,
    FileRange,
    Offer,
    ServerSession,
)

OFFER = Offer(Path("snapshot-block-7.vizjson"), 7, 3_000_000, b"c" * 32)


def begun(now: float = 0.0) -> ServerSession:
    session = ServerSession(now)
    session.begin(InfoRequest(), OFFER)
    return session


def test_an_untrusted_address_is_refused_with_or_without_limits() -> None:
    for is_limited in (True, False):
        door = AdmissionControl(frozenset({"10.0.0.1"}), is_limited=is_limited)
        assert door.admit("10.0.0.2", 0) is Denial.UNTRUSTED
        assert door.admit("10.0.0.1", 0) is None


def test_the_sixth_connection_is_refused_until_one_has_gone() -> None:
    door = AdmissionControl()
    assert [door.admit(f"10.0.0.{last}", 0) for last in range(5)] == [None] * 5

    assert door.admit("10.0.0.9", 0) is Denial.FULL
    door.leave("10.0.0.1")
    assert door.admit("10.0.0.9", 0) is None


def test_the_fourth_session_of_an_address_is_refused() -> None:
    door = AdmissionControl()

    assert [door.admit("10.0.0.1", 0) for _ in range(4)] == [None, None, None, Denial.TOO_MANY_SESSIONS]


def test_an_ipv6_address_is_charged_as_its_network() -> None:
    door = AdmissionControl()

    assert [door.admit(f"2001:db8::{last}", 0) for last in range(4)] == [None, None, None, Denial.TOO_MANY_SESSIONS]
    assert door.admit("2001:db8:0:1::1", 0) is None
    door.leave("2001:db8::ffff")
    assert door.admit("2001:db8::9", 0) is None


def test_the_eleventh_visit_within_an_hour_is_refused_and_not_counted() -> None:
    door = AdmissionControl()

    def visit(now: float) -> Denial | None:
        denial = door.admit("10.0.0.1", now)
        if denial is None:
            door.leave("10.0.0.1")
        return denial

    assert [visit(minute * 60.0) for minute in range(10)] == [None] * 10
    assert visit(3_599) is Denial.TOO_OFTEN
    assert visit(3_600) is None
    assert visit(3_601) is Denial.TOO_OFTEN
    assert visit(3_660) is None


def test_without_limits_every_visit_is_accepted() -> None:
    door = AdmissionControl(is_limited=False)

    assert {door.admit("10.0.0.1", 0) for _ in range(100)} == {None}


def test_only_so_many_addresses_are_remembered() -> None:
    door = AdmissionControl()
    for number in range(MOST_ADDRESSES + 10):
        address = f"address {number}"
        assert door.admit(address, number / 1000) is None
        door.leave(address)

    assert len(door._visits) <= MOST_ADDRESSES  # noqa: SLF001 - a bound that nothing else shows


def test_the_first_request_is_answered_with_what_there_is() -> None:
    assert ServerSession(0).begin(InfoRequest(), OFFER) == Answer(InfoReply(7, NO_BLOCK, b"c" * 32, 3_000_000))


@pytest.mark.parametrize("offer", [None, OFFER._replace(size=0)])
def test_without_a_snapshot_the_answer_says_so(offer: Offer | None) -> None:
    assert ServerSession(0).begin(InfoRequest(), offer) == Answer(NoSnapshot(), ends=True)


@pytest.mark.parametrize("message", [DataRequest(7, 0, 10), NoSnapshot(), InfoReply(1, NO_BLOCK, b"", 1)])
def test_a_client_that_does_not_ask_for_the_snapshot_first_gets_no_answer(message: SnapshotMessage) -> None:
    session = ServerSession(0)

    assert session.begin(message, OFFER) == Answer(None, ends=True)
    assert session.answer(DataRequest(7, 0, 10)) == Answer(None, ends=True)


@pytest.mark.parametrize(
    ("offset", "size", "part"),
    [
        (0, 1_000_000, FileRange(0, 1_000_000, is_last=False)),
        (2_000_000, 1_000_000, FileRange(2_000_000, 1_000_000, is_last=True)),
        (2_999_999, 1_000_000, FileRange(2_999_999, 1, is_last=True)),
        (3_000_000, 5, FileRange(3_000_000, 0, is_last=True)),
    ],
)
def test_a_part_is_cut_off_at_the_end_of_the_file(offset: int, size: int, part: FileRange) -> None:
    assert begun().answer(DataRequest(99, offset, size)) == Answer(part, ends=part.is_last)


def test_a_part_is_never_larger_than_is_fair() -> None:
    session = ServerSession(0)
    session.begin(InfoRequest(), OFFER._replace(size=1 << 33))

    assert session.answer(DataRequest(7, 0, (1 << 32) - 1)).message == FileRange(0, LARGEST_PART, is_last=False)


@pytest.mark.parametrize(
    "message", [DataRequest(7, 3_000_001, 10), DataRequest(7, 1 << 63, 10), DataRequest(7, 0, 0), InfoRequest()]
)
def test_a_request_that_makes_no_sense_ends_the_connection(message: SnapshotMessage) -> None:
    assert begun().answer(message) == Answer(None, ends=True)


def test_a_connection_lasts_as_long_as_it_takes_something() -> None:
    assert ServerSession(100).deadline == 110
    session = begun(100)
    assert session.deadline == 160

    session.sent(SLOWEST * 300)

    assert session.deadline == 460


def test_no_connection_lasts_for_ever() -> None:
    session = begun(0)
    session.sent(1 << 50)

    assert session.deadline == LONGEST_SECONDS


def test_the_parts_of_a_file_make_up_the_file() -> None:
    session, offset, whole = begun(), 0, b""
    data = bytes(range(256)) * 11_718 + bytes(192)
    while True:
        answer = session.answer(DataRequest(7, offset, 1 << 20))
        assert isinstance(answer.message, FileRange)
        part = answer.message
        whole += DataReply(part.offset, data[part.offset :][: part.size], part.is_last).part
        offset += part.size
        if answer.ends:
            break
    assert whole == data
