"""The two places of a signer's record: what is there after a kill at any moment, and after a clean stop."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.protocol.blocks.block import Block, sign_block
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer import record as module
from ledgerd.signer.record import OTHER, SIZE, SignerRecord
from tests.signer.headers import KEY, NOW, header_of


def block_of(number: int) -> Block:
    return sign_block(header_of(NOW + 3 * number), (), KEY)


def opened(folder: Path, *, is_clean: bool = False) -> SignerRecord:
    return SignerRecord(folder, has_stopped_cleanly=is_clean)


def killed_after(folder: Path, count: int) -> None:
    """A signer that signs so many slots and says no word at its end."""
    record = opened(folder)
    for number in range(count):
        record.record(block_of(number))
    record.close(is_last=False)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_what_was_recorded_last_is_there_after_a_kill(tmp_path: Path, count: int) -> None:
    killed_after(tmp_path, count)

    assert opened(tmp_path).block == (block_of(count - 1) if count else None)
    assert [(tmp_path / name).stat().st_size for name in (FILE, OTHER)] == [SIZE, SIZE]


@pytest.mark.parametrize("count", [2, 3])
def test_of_a_torn_place_the_other_is_left(tmp_path: Path, count: int) -> None:
    killed_after(tmp_path, count)
    newest = max((FILE, OTHER), key=lambda name: LastSigned(tmp_path, None, name).time)
    torn = bytearray((tmp_path / newest).read_bytes())
    torn[100:] = bytes(len(torn) - 100)
    (tmp_path / newest).write_bytes(torn)

    with pytest.raises(OperatorError, match="cannot be read"):
        opened(tmp_path, is_clean=True)
    assert opened(tmp_path).block == block_of(count - 2)


def test_where_no_place_is_sound_a_person_has_to_see_to_it(tmp_path: Path) -> None:
    killed_after(tmp_path, 1)
    for name in (FILE, OTHER):
        (tmp_path / name).write_bytes(b"{" + bytes(100))
    with pytest.raises(OperatorError, match="cannot be read"):
        opened(tmp_path)


def test_after_a_clean_stop_there_is_one_file_which_a_node_can_read(tmp_path: Path) -> None:
    record = opened(tmp_path)
    for number in range(2):
        record.record(block_of(number))
    record.close(is_last=True)

    assert LastSigned(tmp_path, None).block == block_of(1)
    assert not (tmp_path / OTHER).exists()


def test_each_record_is_flushed_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, flushed = opened(tmp_path), list[int]()
    monkeypatch.setattr(module, "_flush", lambda descriptor: flushed.append(os.fstat(descriptor).st_size))
    record.record(block_of(0))
    assert flushed == [SIZE]

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module, "_flush", fail)
    with pytest.raises(OperatorError, match="nothing is signed"):
        record.record(block_of(1))
    assert record.block == block_of(0)
