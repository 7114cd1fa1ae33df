"""Fetching: what is asked for, and every answer that is not believed."""

from __future__ import annotations

import pytest

from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange.download import LARGEST_FILE, PART, Download, DownloadAction, Unavailable
from ledgerd.snapshot.exchange.frames import (
    AccessDenied,
    DataReply,
    DataRequest,
    Denial,
    InfoReply,
    InfoRequest,
    NoSnapshot,
    ProtocolFault,
    SnapshotMessage,
)

INFO = InfoReply(7, NO_BLOCK, b"c" * 32, PART + 100)


def begun(info: InfoReply = INFO) -> Download:
    download = Download()
    assert download.connect() == InfoRequest()
    download.receive(info)
    return download


def test_a_file_is_asked_for_part_after_part() -> None:
    download = Download()
    download.connect()

    assert download.receive(INFO) == DownloadAction(DataRequest(7, 0, PART))
    assert download.receive(DataReply(0, bytes(PART), is_last=False)) == DownloadAction(
        DataRequest(7, PART, PART), bytes(PART)
    )
    assert download.receive(DataReply(PART, bytes(100), is_last=True)) == DownloadAction(None, bytes(100))


def test_parts_that_are_smaller_than_asked_for_are_taken() -> None:
    download = begun()

    assert download.receive(DataReply(0, b"ab", is_last=False)) == DownloadAction(DataRequest(7, 2, PART), b"ab")


@pytest.mark.parametrize(
    "info",
    [
        InfoReply(7, NO_BLOCK, b"c" * 32, 0),
        InfoReply(7, NO_BLOCK, b"c" * 32, LARGEST_FILE + 1),
        InfoReply(0, NO_BLOCK, b"c" * 32, 9),
    ],
)
def test_an_announcement_that_cannot_be_true_is_a_fault(info: InfoReply) -> None:
    with pytest.raises(ProtocolFault, match="announces"):
        begun(info)


def test_a_file_of_more_bytes_than_are_wanted_is_not_begun() -> None:
    download = Download(most=INFO.size - 1)
    download.connect()

    with pytest.raises(ProtocolFault, match=f"where {INFO.size - 1} are the most"):
        download.receive(INFO)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (DataReply(1, b"x", is_last=False), "1 bytes at offset 1"),
        (DataReply(0, b"", is_last=False), "0 bytes"),
        (DataReply(0, bytes(PART + 1), is_last=False), f"where at most {PART} at 0 are expected"),
        (DataReply(0, b"x", is_last=True), "ends the file at 1"),
        (INFO, "InfoReply, which was not asked for"),
        (InfoRequest(), "InfoRequest, which was not asked for"),
    ],
)
def test_an_answer_that_was_not_asked_for_is_a_fault(reply: SnapshotMessage, fault: str) -> None:
    with pytest.raises(ProtocolFault, match=fault):
        begun().receive(reply)


def test_no_part_is_taken_before_the_announcement() -> None:
    download = Download()
    download.connect()

    with pytest.raises(ProtocolFault):
        download.receive(DataReply(0, b"x", is_last=False))


def test_more_than_the_file_is_a_fault() -> None:
    download = begun(InfoReply(7, NO_BLOCK, b"c" * 32, 10))

    with pytest.raises(ProtocolFault, match="where at most 10 at 0 are expected"):
        download.receive(DataReply(0, bytes(11), is_last=True))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (NoSnapshot(), "has no snapshot"),
        (AccessDenied(Denial.FULL), "denies access: it serves as many as it can"),
        (AccessDenied(9), "reason 9"),
    ],
)
def test_a_refusal_says_why(reply: SnapshotMessage, reason: str) -> None:
    download = Download()
    download.connect()

    with pytest.raises(Unavailable, match=reason):
        download.receive(reply)


def test_a_connection_that_brought_bytes_is_resumed_where_it_broke() -> None:
    download = begun()
    assert not download.may_resume
    download.receive(DataReply(0, bytes(1000), is_last=False))
    assert download.may_resume

    assert download.connect() == InfoRequest()

    assert not download.may_resume
    assert download.receive(INFO) == DownloadAction(DataRequest(7, 1000, PART))


def test_another_file_is_not_continued() -> None:
    download = begun()
    download.receive(DataReply(0, bytes(1000), is_last=False))
    download.connect()

    with pytest.raises(Unavailable, match="another snapshot by now"):
        download.receive(InfoReply(8, NO_BLOCK, b"c" * 32, PART + 100))


def test_a_file_is_given_up_after_too_many_connections() -> None:
    download, connections = begun(), 1
    while True:
        download.receive(DataReply(download.received, b"x", is_last=False))
        if not download.may_resume:
            break
        download.connect()
        download.receive(INFO)
        connections += 1

    assert connections == 9
