"""The container: what any zlib unpacks, with the header in front of a state that was compressed before it."""

from __future__ import annotations

import errno
import hashlib
import io
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file import container
from ledgerd.snapshot.file.container import StateWriter, joined_adler32


def unpacked(file: bytes) -> bytes:
    return b"".join(container.unpacked(io.BytesIO(file)))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)


def file_of(pieces: list[str], header: str = "{}") -> bytes:
    with StateWriter() as writer:
        for piece in pieces:
            writer.add(piece)
        return b"".join(writer.finish(header))


@settings(max_examples=15)
@given(pieces=st.lists(TEXTS, max_size=8), header=TEXTS)
def test_zlib_reads_what_was_put_in(pieces: list[str], header: str) -> None:
    wanted = ('{"header":' + header + ',"state":' + "".join(pieces) + "}").encode()

    file = file_of(pieces, header)

    assert zlib.decompress(file) == wanted
    assert unpacked(file) == wanted


@given(first=st.binary(max_size=300), second=st.binary(max_size=300))
def test_the_checksum_of_two_texts_is_that_of_both_together(first: bytes, second: bytes) -> None:
    joined = joined_adler32(zlib.adler32(first), zlib.adler32(second), len(second))

    assert joined == zlib.adler32(first + second)


def test_the_checksum_is_that_of_the_state_alone() -> None:
    with StateWriter() as writer:
        writer.add('{"a":')
        writer.add("1}")

        assert writer.checksum == hashlib.sha256(b'{"a":1}').hexdigest()


def test_bytes_that_are_not_unicode_pass_through() -> None:
    assert unpacked(file_of(["\udcff"])) == b'{"header":{},"state":\xff}'


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "LARGEST_TEXT", 1_000)

    with pytest.raises(SnapshotError, match="more than 1000 bytes"):
        unpacked(zlib.compress(bytes(2_000)))


@pytest.mark.parametrize("pieces", [1, 5])
def test_a_full_disk_is_told_by_the_thread_beside(monkeypatch: pytest.MonkeyPatch, pieces: int) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(StateWriter, "_pack", fail)
    with pytest.raises(OSError, match="No space left"):
        file_of(["x"] * pieces)
