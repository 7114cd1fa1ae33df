"""Reading a log ahead: the same blocks as without, nothing computed twice, and the one-process way when that fails."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import islice
from select import select

import pytest

from ledgerd.codec import DecodeError, codec_of
from ledgerd.node.workers.log_reading import BATCHES_AHEAD, BLOCKS_AT_ONCE, FIRST_BATCHES, LogReading
from ledgerd.protocol.blocks import block, transaction
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks
from tests.supervision.limits import no_descriptor_left

COUNT = BLOCKS_AT_ONCE * 3 + 7
IS_LOST = "no longer read ahead"


def numbered(count: int = COUNT) -> Iterator[tuple[int, bytes]]:
    return iter(list(enumerate(recorded_blocks("open-1")[:count], start=1)))


def signers(made: Block) -> tuple[object, ...]:
    return made.signee, [trx.signature_keys(TESTNET.chain_id) for trx in made.transactions]


@pytest.fixture(scope="module")
def expected() -> list[tuple[object, ...]]:
    return [signers(codec_of(Block).decode(packed)) for _, packed in numbered()]


@pytest.mark.parametrize("processes", [1, 2])
def test_blocks_come_in_order_with_all_keys(
    monkeypatch: pytest.MonkeyPatch, expected: list[tuple[object, ...]], processes: int
) -> None:
    with LogReading(TESTNET, processes) as ahead:
        read = list(ahead.read(numbered()))
    own = FIRST_BATCHES[0]
    assert not any(made.header.known_signee for _, made in read[:own]), "left to the chain"
    assert [signers(made) for _, made in read[:own]] == expected[:own]
    monkeypatch.setattr(block, "recover", None)
    monkeypatch.setattr(transaction, "recover", None)
    assert [number for number, _ in read] == list(range(1, COUNT + 1))
    assert tuple(made.packed for _, made in read) == recorded_blocks("open-1")[:COUNT]
    assert [signers(made) for _, made in read] == expected


def test_without_processes_blocks_are_only_decoded() -> None:
    with LogReading(TESTNET, 0) as ahead:
        assert [made.number for _, made in ahead.read(numbered())] == list(range(1, COUNT + 1))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_ends_or_hangs_is_done_without(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    expected: list[tuple[object, ...]],
    number: signal.Signals,
) -> None:
    with LogReading(TESTNET, 1) as ahead:
        read = ahead.read(numbered())
        first = list(islice(read, 5))
        monkeypatch.setattr("ledgerd.node.workers.log_reading.SILENT_SECONDS", 0.2)
        for process in ahead.processes:
            os.kill(process, number)
        rest = list(read)
        assert not ahead.processes
    assert [signers(made) for _, made in first + rest] == expected
    assert sum(IS_LOST in record.getMessage() for record in caplog.records) == 1


def test_processes_that_cannot_be_started_are_done_without(caplog: pytest.LogCaptureFixture) -> None:
    with no_descriptor_left(), LogReading(TESTNET, 1) as ahead:
        assert len(list(ahead.read(numbered()))) == COUNT
    assert IS_LOST in caplog.text


def test_a_block_that_cannot_be_decoded_fails_in_its_turn() -> None:
    blocks = [packed for _, packed in numbered()]
    blocks[150] = b"\xff" * 40
    with LogReading(TESTNET, 1) as ahead:
        read = ahead.read(iter(list(enumerate(blocks, start=1))))
        assert [number for number, _ in islice(read, 150)] == list(range(1, 151))
        with pytest.raises(DecodeError):
            next(read)


def test_an_error_of_the_log_comes_behind_the_blocks_before_it() -> None:
    def broken() -> Iterator[tuple[int, bytes]]:
        yield from numbered(150)
        raise OSError("a damaged log")

    with LogReading(TESTNET, 1) as ahead:
        read = ahead.read(broken())
        assert len(list(islice(read, 150))) == 150
        with pytest.raises(OSError, match="a damaged log"):
            next(read)


def test_the_processes_end_while_the_last_blocks_are_applied() -> None:
    with LogReading(TESTNET, 1) as ahead:
        read = ahead.read(numbered())
        (process,) = map(os.pidfd_open, ahead.processes)
        assert len(list(islice(read, COUNT - 1))) == COUNT - 1
        assert select([process], [], [], PATIENCE)[0], "ended before the last block was asked for"
        os.close(process)
        assert [number for number, _ in read] == [COUNT]


def test_no_more_is_read_ahead_than_a_few_batches() -> None:
    given = 0

    def counted() -> Iterator[tuple[int, bytes]]:
        nonlocal given
        for each in numbered(BLOCKS_AT_ONCE * (BATCHES_AHEAD + 4)):
            given += 1
            yield each

    with LogReading(TESTNET, 1) as ahead:
        next(ahead.read(counted()))
    assert given == sum(FIRST_BATCHES) + BLOCKS_AT_ONCE * (BATCHES_AHEAD - len(FIRST_BATCHES))
