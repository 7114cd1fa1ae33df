"""A file is taken only when every byte of it is proven."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.archive.errors import ArchiveRefused
from ledgerd.archive.proof import prove
from ledgerd.archive.sealed import SealedFile
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import BlockId
from tests.archive.files import write_archive
from tests.recorded import recorded_blocks

FILE = SealedFile(100, 199)


def id_of(number: int, chain: str = "open-main") -> BlockId:
    return codec_of(Block).decode_exactly(recorded_blocks(chain)[number - 1]).id


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("archive")
    write_archive(folder, recorded_blocks("open-main")[:200], 100)
    return (folder / FILE.name).read_bytes()


def test_a_sound_file_is_proven(sealed: bytes, tmp_path: Path) -> None:
    path = tmp_path / FILE.name
    path.write_bytes(sealed)
    proven = prove(path, FILE, id_of(199))
    assert proven.previous == id_of(99)
    assert len(proven.offsets) == len(proven.sums) == 100


@given(st.integers(min_value=0), st.integers(1, 255))
def test_no_flipped_bit_is_overlooked(
    sealed: bytes, tmp_path_factory: pytest.TempPathFactory, at: int, flip: int
) -> None:
    changed = bytearray(sealed)
    changed[at % len(sealed)] ^= flip
    path = tmp_path_factory.mktemp("flipped") / FILE.name
    path.write_bytes(changed)
    with pytest.raises(ArchiveRefused, match=FILE.name):
        prove(path, FILE, id_of(199))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("empty", lambda _: b""),
        ("torn", lambda content: content[:-100]),
        ("longer", lambda content: content + content[:300]),
        ("zeros", lambda content: bytes(len(content))),
    ],
)
def test_a_file_of_another_length_is_refused(sealed: bytes, tmp_path: Path, name: str, change: object) -> None:
    assert callable(change)
    path = tmp_path / name
    path.write_bytes(change(sealed))
    with pytest.raises(ArchiveRefused):
        prove(path, FILE, id_of(199))


def test_another_range_and_another_chain_are_refused(sealed: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(sealed)
    with pytest.raises(ArchiveRefused, match="block 100 is in its place"):
        prove(path, SealedFile(200, 299), id_of(299))
    with pytest.raises(ArchiveRefused, match="this chain has another block of that number"):
        prove(path, FILE, id_of(199, "open-1"))
