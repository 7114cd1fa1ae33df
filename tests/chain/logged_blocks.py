"""What tests of the logs write: blocks of any number and size, and folders as a crash may leave them."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from tests.recorded import FOLDER, recorded_log

DATA, INDEX = "block_log", "block_log.index"


@cache
def packed_block(number: int, validator: bytes = b"committee") -> bytes:
    """A block with this number and nothing in it; the name of its validator makes it as long as one likes."""
    return Block(
        previous=BlockId((number - 1).to_bytes(4, "big") + bytes(16)),
        timestamp=1538150397 + 3 * number,
        validator=validator.decode("utf-8", "surrogateescape"),
        transaction_merkle_root=MerkleRoot(bytes(20)),
        extensions=(),
        validator_signature=Signature(bytes(65)),
        transactions=(),
    ).packed


def packed_blocks(first: int, last: int) -> list[bytes]:
    """Blocks of different lengths."""
    return [packed_block(number, b"v" * (1 + number * 7 % 60)) for number in range(first, last + 1)]


def write_log(folder: Path, blocks: Sequence[bytes]) -> None:
    """A log of these blocks, the first of which is block 1."""
    log = BlockLog.open(folder)
    for number, packed in enumerate(blocks, 1):
        log.append(number, packed)
    log.close()


def blocks_of(log: BlockLogReader) -> list[bytes]:
    """Every block of a log, read one by one and, to the same effect, all in a row."""
    numbers = range(log.first_number, log.head_number + 1) if log.head_number else range(0)
    blocks = [log.read(number) for number in numbers]
    assert [*log.scan(0, log.head_number + 1)] == [*zip(numbers, blocks, strict=True)]
    return [block for block in blocks if block is not None]


def reopened(folder: Path) -> list[bytes]:
    """What a folder's log holds when it is opened for writing, and what a reader then sees."""
    log = BlockLog.open(folder)
    blocks = blocks_of(log)
    reader = BlockLogReader.open(folder)
    assert blocks_of(reader) == blocks
    reader.close()
    log.close()
    return blocks


@cache
def recorded_index() -> bytes:
    """The index of the chain `open-2`, as the reference wrote it."""
    return lzma.decompress((FOLDER / "open-2" / "block_log.index.xz").read_bytes())


def write_recorded(folder: Path) -> None:
    """Both files of the chain `open-2`, as the reference wrote them."""
    (folder / DATA).write_bytes(recorded_log("open-2"))
    (folder / INDEX).write_bytes(recorded_index())


@contextmanager
def unsynced() -> Iterator[None]:
    """Leave the disk alone: thousands of openings would wait for it. And let blocks follow one another by number alone,
    as those of `packed_block` do: whether they do by their ids is tested in `test_soundness`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        patch.setattr("ledgerd.chain.log.soundness._is_linked", lambda *_: True)
        yield
