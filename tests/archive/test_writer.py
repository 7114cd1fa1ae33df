"""The archive that a node writes: its files are those of the specification, and it goes on after a crash."""

from __future__ import annotations

import shutil
from itertools import accumulate
from pathlib import Path

import pytest

from ledgerd.archive.sealed import ArchivedBlocks, SealedFile, sealed_files
from ledgerd.archive.writer import UNFINISHED, ArchiveWriter
from tests.archive.files import write_archive
from tests.chain.logged_blocks import packed_block, packed_blocks
from tests.recorded import recorded_blocks


def by_hand(first: int, blocks: list[bytes]) -> dict[str, bytes]:
    """The two files of a range, as spec 03, sections 24 and 25, describe them."""
    name = f"blocks-{first:010}-{first + len(blocks) - 1:010}.log"
    starts = [0, *accumulate(len(packed) + 8 for packed in blocks)][:-1]
    return {
        name: b"".join(packed + start.to_bytes(8, "little") for packed, start in zip(blocks, starts, strict=True)),
        f"{name}.index": b"".join(number.to_bytes(8, "little") for number in (first, *starts)),
    }


def files_of(folder: Path) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return {name: found[name] for name in sorted(found) if name.endswith((".log", ".index"))}


def test_sealed_files_are_those_of_the_specification(tmp_path: Path) -> None:
    blocks = packed_blocks(1, 250)
    write_archive(tmp_path, blocks, 100)
    assert files_of(tmp_path) == by_hand(1, blocks[:99]) | by_hand(100, blocks[99:199])
    unfinished = by_hand(200, blocks[199:])
    assert files_of(tmp_path / UNFINISHED) == {
        "blocks-0000000200.index": unfinished["blocks-0000000200-0000000250.log.index"]
    }
    assert (tmp_path / UNFINISHED / "blocks-0000000200").read_bytes() == unfinished["blocks-0000000200-0000000250.log"]


def test_files_made_by_hand_are_read(tmp_path: Path) -> None:
    blocks = [*recorded_blocks("open-main")[99:299]]
    for name, content in (by_hand(100, blocks[:100]) | by_hand(200, blocks[100:])).items():
        (tmp_path / name).write_bytes(content)
    archive = ArchivedBlocks(tmp_path)
    assert [*archive.scan(100, 400)] == [*enumerate(blocks, 100)]
    assert [archive.read(number) for number in (99, 100, 250, 299, 300)] == [
        None,
        blocks[0],
        blocks[150],
        blocks[199],
        None,
    ]
    archive.close()


def test_a_file_begins_anew_behind_a_gap_and_keeps_its_true_numbers(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, 100)
    for number in (*range(130, 150), *range(170, 200), 200):
        writer.append(number, packed_block(number))
    writer.close()
    assert sealed_files(tmp_path) == [SealedFile(130, 149), SealedFile(170, 199)]
    assert ArchiveWriter(tmp_path, 100).archived == 200


def test_the_next_writer_goes_on(tmp_path: Path) -> None:
    blocks = packed_blocks(1, 150)
    for first in range(0, 150, 7):
        write_archive(tmp_path, blocks[first : first + 7], 50, first + 1)
    assert sealed_files(tmp_path) == [SealedFile(1, 49), SealedFile(50, 99), SealedFile(100, 149)]
    assert [*ArchivedBlocks(tmp_path).scan(1, 150)] == [*enumerate(blocks[:149], 1)]


@pytest.mark.parametrize("moved", range(1, 4))
def test_a_writer_that_was_killed_while_it_sealed_is_continued(tmp_path: Path, moved: int) -> None:
    """The index goes first, then the checksums, then the blocks: a file with its name is whole."""
    blocks = recorded_blocks("open-main")[:60]
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    write_archive(whole, blocks[:49], 50)
    shutil.copytree(whole, torn)
    for suffix in (".index", ".sums", "")[moved:]:
        name = SealedFile(1, 49).name + suffix
        (torn / name).rename(torn / UNFINISHED / f"blocks-0000000000{suffix}")
    writer = ArchiveWriter(torn, 50)
    assert writer.archived == 49
    for number, packed in enumerate(blocks[49:], 50):
        writer.append(number, packed)
    writer.close()
    assert [*ArchivedBlocks(torn).scan(1, 60)] == [*enumerate(blocks[:49], 1)]
    assert files_of(torn) == by_hand(1, [*blocks[:49]])
    assert ArchiveWriter(torn, 50).archived == 60


def test_what_is_sealed_already_is_deleted_from_the_unfinished(tmp_path: Path) -> None:
    write_archive(tmp_path, packed_blocks(1, 120), 100)
    shutil.copy(tmp_path / SealedFile(1, 99).name, tmp_path / UNFINISHED / "blocks-0000000000")
    assert ArchiveWriter(tmp_path, 100).archived == 120
    assert {path.name.split(".")[0] for path in (tmp_path / UNFINISHED).iterdir()} == {"blocks-0000000100"}
