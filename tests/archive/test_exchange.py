"""Archives of the reference are read, and ours are what it would write: bytes made by hand from the specification
(spec 11, section 9.7; the format of a file: spec 03, sections 24 and 25), both ways.
"""

from __future__ import annotations

import re
import shutil
import struct
from contextlib import closing
from pathlib import Path

import pytest

from ledgerd.archive.fetching import Fetch
from ledgerd.archive.known import known_blocks
from ledgerd.archive.proof import check_archive
from ledgerd.archive.sealed import LIST_NAME, sealed_files
from ledgerd.archive.web import WebArchive
from tests.archive.files import CHAIN, RANGE, served, without_past, write_archive
from tests.recorded import recorded_blocks

BLOCKS = recorded_blocks(CHAIN)


def reference_archive(folder: Path, first: int, last: int) -> None:
    """What a node of the reference leaves that had these irreversible blocks: sealed files, no sums, no list."""
    folder.mkdir(exist_ok=True)
    begin = first
    while begin <= last:
        end = begin - begin % RANGE + RANGE - 1
        if end > last:
            break
        data, offsets = b"", []
        for number in range(begin, end + 1):
            offsets.append(len(data))
            data += BLOCKS[number - 1] + struct.pack("<Q", len(data))
        name = f"blocks-{begin:010d}-{end:010d}.log"
        (folder / name).write_bytes(data)
        (folder / f"{name}.index").write_bytes(struct.pack(f"<Q{len(offsets)}Q", begin, *offsets))
        begin = end + 1


def read_by_hand(folder: Path) -> dict[int, bytes]:
    """The blocks of an archive, as a program finds them that knows nothing but the specification."""
    found = {}
    for path in sorted(folder.glob("blocks-*.log")):
        named = re.fullmatch(r"blocks-(\d{10})-(\d{10})\.log", path.name)
        assert named is not None
        first, last = int(named[1]), int(named[2])
        data, index = path.read_bytes(), path.with_name(f"{path.name}.index").read_bytes()
        header, *offsets = struct.unpack(f"<{len(index) // 8}Q", index)
        assert header == first
        assert len(offsets) == last - first + 1
        for number, (start, end) in enumerate(zip(offsets, [*offsets[1:], len(data)], strict=True), first):
            assert struct.unpack("<Q", data[end - 8 : end]) == (start,)
            found[number] = data[start : end - 8]
            assert int.from_bytes(found[number][:4], "big") == number - 1, "the number in the id of the block before"
    return found


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("blocks-*") if not path.name.endswith(".sums")}


@pytest.mark.parametrize("first", [1, 130])
def test_what_we_write_is_what_the_reference_would_write(tmp_path: Path, first: int) -> None:
    reference_archive(tmp_path / "theirs", first, 459)
    write_archive(tmp_path / "ours", BLOCKS[first - 1 : 459], RANGE, first)
    assert bytes_of(tmp_path / "ours") == bytes_of(tmp_path / "theirs")
    assert read_by_hand(tmp_path / "ours") == {number: BLOCKS[number - 1] for number in range(first, 400)}


@pytest.mark.parametrize("first", [1, 130])
def test_what_the_reference_has_written_is_fetched_and_ours_are_then_the_same_files(tmp_path: Path, first: int) -> None:
    reference_archive(tmp_path / "theirs", first, 599)
    logs, ours = without_past(tmp_path / "node"), tmp_path / "node" / "block-archive"
    with (
        served(tmp_path / "theirs") as server,
        known_blocks(logs, logs, ours) as known,
        closing(WebArchive(server.url, RANGE)) as source,
    ):
        reached = Fetch(ours, known, source).run()
    theirs = bytes_of(tmp_path / "theirs")
    whole = {
        name: content for name, content in theirs.items() if "-0000000130-" not in name and name < "blocks-00000005"
    }
    assert bytes_of(ours) == whole
    assert reached == (1 if first == 1 else 200), "without a list the names of whole ranges are asked for"


@pytest.mark.parametrize("first", [1, 130])
def test_the_list_that_sha256sum_makes_of_a_reference_s_archive_names_every_file(tmp_path: Path, first: int) -> None:
    reference_archive(tmp_path / "theirs", first, 599)
    write_archive(tmp_path / "listed", BLOCKS[first - 1 : 599], RANGE, first)
    shutil.copy(tmp_path / "listed" / LIST_NAME, tmp_path / "theirs")
    logs, ours = without_past(tmp_path / "node"), tmp_path / "node" / "block-archive"
    with (
        served(tmp_path / "theirs") as server,
        known_blocks(logs, logs, ours) as known,
        closing(WebArchive(server.url, RANGE)) as source,
    ):
        assert Fetch(ours, known, source).run() == first


def test_a_reference_s_files_that_were_copied_by_hand_are_served_and_proven(tmp_path: Path) -> None:
    logs, ours = without_past(tmp_path / "node"), tmp_path / "node" / "block-archive"
    reference_archive(ours, 1, 499)
    with known_blocks(logs, logs, ours) as known:
        assert known.earliest == 1
        assert [*check_archive(ours, known)] == []
    path = ours / sealed_files(ours)[2].name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with known_blocks(logs, logs, ours) as known:
        (fault,) = check_archive(ours, known)
    assert "blocks-0000000200-0000000299.log is refused" in fault
