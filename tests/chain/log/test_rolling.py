"""The rolling block log: it begins anywhere, forgets its oldest blocks, and survives a crash while it does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest

from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from ledgerd.protocol.errors import OperatorError
from tests.chain.logged_blocks import blocks_of, packed_block, packed_blocks, unsynced
from tests.recorded import recorded_blocks

DATA, INDEX = "dlt_block_log", "dlt_block_log.index"


@pytest.fixture(autouse=True, scope="module")
def _spare_the_disk() -> Iterator[None]:
    with unsynced():
        yield


def write_rolling(folder: Path, first: int, blocks: list[bytes]) -> None:
    log = RollingBlockLog.open(folder)
    for number, packed in enumerate(blocks, first):
        log.append(number, packed)
    log.close()


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".sums"}


def expected_files(first: int, blocks: list[bytes]) -> dict[str, bytes]:
    starts = [0, *accumulate(len(packed) + 8 for packed in blocks)][:-1]
    return {
        DATA: b"".join(packed + start.to_bytes(8, "little") for packed, start in zip(blocks, starts, strict=True)),
        INDEX: b"".join(number.to_bytes(8, "little") for number in (first, *starts)),
    }


def holds(log: RollingBlockLogReader | RollingBlockLog, first: int, blocks: list[bytes]) -> None:
    """The log holds exactly these blocks."""
    assert (log.first_number, log.head_number) == ((first, first + len(blocks) - 1) if blocks else (0, 0))
    assert blocks_of(log) == blocks
    assert log.read(first - 1) is None
    assert log.read(first + len(blocks)) is None


# -- its files


@pytest.mark.parametrize("first", [0, 1 << 32, (1 << 64) - 1])
def test_a_reader_of_an_index_that_begins_with_no_number_of_a_block_says_that_it_is_damaged(
    tmp_path: Path, first: int
) -> None:
    write_rolling(tmp_path, 5, packed_blocks(5, 8))
    path = tmp_path / INDEX
    path.write_bytes(first.to_bytes(8, "little") + path.read_bytes()[8:])

    log = RollingBlockLogReader.open(tmp_path)

    with pytest.raises(LogDamaged, match="cannot be read"):
        log.read(log.first_number)
    with pytest.raises(LogDamaged, match="cannot be read"):
        list(log.scan(log.first_number, log.head_number))


def test_a_new_log_is_two_files_of_one_zero_byte(tmp_path: Path) -> None:
    log = RollingBlockLog.open(tmp_path)

    assert files_of(tmp_path) == {DATA: b"\0", INDEX: b"\0"}
    assert log.count == 0
    holds(log, 1, [])


@pytest.mark.parametrize("first", [1, 400])
def test_the_index_begins_with_the_number_of_the_first_block(tmp_path: Path, first: int) -> None:
    blocks = list(recorded_blocks("open-2")[first - 1 :])
    write_rolling(tmp_path, first, blocks)

    assert files_of(tmp_path) == expected_files(first, blocks)
    log = RollingBlockLog.open(tmp_path)
    assert log.repaired[2:] == (0, 0)
    assert log.count == len(blocks)
    holds(log, first, blocks)
    holds(RollingBlockLogReader.open(tmp_path), first, blocks)


@pytest.mark.parametrize("number", [8, 10, 7, 11])
def test_a_block_that_does_not_follow_the_head_is_refused(tmp_path: Path, number: int) -> None:
    write_rolling(tmp_path, 7, packed_blocks(7, 8))

    with pytest.raises(ValueError, match="cannot follow block 8"):
        RollingBlockLog.open(tmp_path).append(number, packed_block(number))


def test_there_is_no_block_zero(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not the bytes of block 0"):
        RollingBlockLog.open(tmp_path).append(0, b"\xff\xff\xff\xff")


def index_of(first: int, starts: list[int]) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in (first, *starts))


@pytest.mark.parametrize(
    "index",
    [
        None,
        b"",
        b"\0",
        index_of(50, []),
        index_of(49, [0, 129, 258, 387]),
        index_of(50, [0, 129, 258]),
        index_of(50, [0, 129, 258, 388]),
        index_of(50, [0, 129, 258, 387, 516]),
        index_of(50, [0, 129, 258, 387]) + b"\1\2\3",
        index_of(0, [0, 129, 258, 387]),
        b"\xff" * 40,
    ],
)
def test_an_index_that_is_not_right_is_made_anew(tmp_path: Path, index: bytes | None) -> None:
    blocks = [packed_block(number) for number in range(50, 54)]
    write_rolling(tmp_path, 50, blocks)
    (tmp_path / INDEX).unlink()
    if index is not None:
        (tmp_path / INDEX).write_bytes(index)

    holds(RollingBlockLog.open(tmp_path), 50, blocks)
    assert files_of(tmp_path) == expected_files(50, blocks)


@pytest.mark.parametrize("blocks", [0, 1, 4])
def test_a_kill_at_any_byte_of_an_append_opens_at_a_block(tmp_path: Path, blocks: int) -> None:
    before, after = packed_blocks(90, 89 + blocks), packed_blocks(90, 90 + blocks)
    write_rolling(tmp_path / "before", 90, before)
    write_rolling(tmp_path / "after", 90, after)
    old, new = files_of(tmp_path / "before"), files_of(tmp_path / "after")

    for data_size in range(len(old[DATA]) if blocks else 0, len(new[DATA]) + 1):
        for index_size in range(len(old[INDEX]) if blocks else 0, len(new[INDEX]) + 1):
            folder = tmp_path / "killed"
            folder.mkdir(exist_ok=True)
            (folder / DATA).write_bytes(new[DATA][:data_size])
            (folder / INDEX).write_bytes(new[INDEX][:index_size])

            log = RollingBlockLog.open(folder)

            is_whole = data_size == len(new[DATA])
            assert blocks_of(log) == (after if is_whole else before)
            assert files_of(folder) == (new if is_whole else old)
            log.close()


def test_damage_in_the_middle_says_that_the_log_may_be_deleted(tmp_path: Path) -> None:
    write_rolling(tmp_path, 50, [packed_block(number) for number in range(50, 60)])
    data = bytearray((tmp_path / DATA).read_bytes())
    data[129 * 4 + 24] ^= 1
    (tmp_path / DATA).write_bytes(data)
    (tmp_path / INDEX).unlink()

    with pytest.raises(LogDamaged, match=r"^block 54 of .*dlt_block_log cannot be read .*delete this file and the"):
        RollingBlockLog.open(tmp_path)


# -- forgetting the oldest


@pytest.mark.parametrize("first", [51, 60, 68, 69])
def test_truncating_keeps_the_blocks_from_a_number_on(tmp_path: Path, first: int) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    log = RollingBlockLog.open(tmp_path)

    log.truncate_before(first)

    assert files_of(tmp_path) == expected_files(first, packed_blocks(first, 69))
    holds(log, first, packed_blocks(first, 69))
    log.append(70, packed_blocks(70, 70)[0])
    holds(log, first, packed_blocks(first, 70))


@pytest.mark.parametrize("first", [0, 49, 50, 70, 71])
def test_truncating_to_all_blocks_or_to_none_does_nothing(tmp_path: Path, first: int) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    before = files_of(tmp_path)
    log = RollingBlockLog.open(tmp_path)

    log.truncate_before(first)

    assert files_of(tmp_path) == before
    holds(log, 50, packed_blocks(50, 69))


def test_truncating_an_empty_log_does_nothing(tmp_path: Path) -> None:
    log = RollingBlockLog.open(tmp_path)

    log.truncate_before(1)

    holds(log, 1, [])


class Crash(Exception):
    """The process ends here."""


STEPS_OF_A_TRUNCATION = 6
"""Four renames and two removals."""


@pytest.mark.parametrize("step", range(STEPS_OF_A_TRUNCATION + 1))
def test_a_crash_after_any_step_of_a_truncation_opens_before_it_or_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    log = RollingBlockLog.open(tmp_path)

    crash_after(monkeypatch, step)
    if step < STEPS_OF_A_TRUNCATION:
        with pytest.raises(Crash):
            log.truncate_before(60)
    else:
        log.truncate_before(60)
    monkeypatch.undo()

    first = 50 if step < 3 else 60
    with_crash = RollingBlockLog.open(tmp_path)
    holds(with_crash, first, packed_blocks(first, 69))
    assert files_of(tmp_path) == expected_files(first, packed_blocks(first, 69))


def crash_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let so many renames and removals of files that exist happen, and no more."""
    replace, unlink = Path.replace, Path.unlink
    done = 0

    def count() -> None:
        nonlocal done
        if done == steps:
            raise Crash
        done += 1

    def replacing(path: Path, target: Path) -> Path:
        count()
        return replace(path, target)

    def unlinking(path: Path, missing_ok: bool = False) -> None:
        if path.exists():
            count()
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "replace", replacing)
    monkeypatch.setattr(Path, "unlink", unlinking)


@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_a_crash_while_the_copy_is_written_leaves_the_log_as_it_was(tmp_path: Path, size: int) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    before = files_of(tmp_path)
    (tmp_path / f"{DATA}.tmp").write_bytes(before[DATA][:size])
    (tmp_path / f"{INDEX}.tmp").write_bytes(before[INDEX][: size // 8])

    holds(RollingBlockLog.open(tmp_path), 50, packed_blocks(50, 69))
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("content", [None, b"", b"\0"])
def test_a_backup_is_put_back_where_the_original_is_gone_or_empty(tmp_path: Path, content: bytes | None) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    before = files_of(tmp_path)
    for name in (DATA, INDEX):
        (tmp_path / name).rename(tmp_path / f"{name}.bak")
        if content is not None:
            (tmp_path / name).write_bytes(content)

    holds(RollingBlockLog.open(tmp_path), 50, packed_blocks(50, 69))
    assert files_of(tmp_path) == before


def test_a_truncation_that_the_disk_refuses_leaves_the_log_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    before = files_of(tmp_path)
    log = RollingBlockLog.open(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full_disk)
        with pytest.raises(OperatorError, match="No space left on device"):
            log.truncate_before(60)

    assert files_of(tmp_path) == before
    log.append(70, packed_blocks(70, 70)[0])
    holds(log, 50, packed_blocks(50, 70))


# -- readers beside the writer


def test_a_reader_follows_appends_truncations_and_resets(tmp_path: Path) -> None:
    reader = RollingBlockLogReader.open(tmp_path)
    holds(reader, 1, [])
    log = RollingBlockLog.open(tmp_path)
    holds(reader, 1, [])
    for number in range(50, 70):
        log.append(number, packed_blocks(number, number)[0])
        holds(reader, 50, packed_blocks(50, number))

    scan = reader.scan(50, 69)
    next(scan)
    log.truncate_before(60)
    log.append(70, packed_blocks(70, 70)[0])

    assert reader.read(70) == packed_blocks(70, 70)[0]
    holds(reader, 60, packed_blocks(60, 70))
    assert [number for number, _ in scan] == [*range(51, 70)]
    log.reset()
    holds(reader, 1, [])
    log.append(9, packed_block(9))
    holds(reader, 9, [packed_block(9)])


@pytest.mark.parametrize("step", range(STEPS_OF_A_TRUNCATION + 1))
def test_a_reader_that_opens_in_the_middle_of_a_truncation_sees_right_blocks_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    log = RollingBlockLog.open(tmp_path)
    before = RollingBlockLogReader.open(tmp_path)
    crash_after(monkeypatch, step)
    if step < STEPS_OF_A_TRUNCATION:
        with pytest.raises(Crash):
            log.truncate_before(60)
    else:
        log.truncate_before(60)
    monkeypatch.undo()

    within = RollingBlockLogReader.open(tmp_path)

    for reader in (within, before):
        assert blocks_of(reader) in (packed_blocks(50, 69), packed_blocks(60, 69), [])
    RollingBlockLog.open(tmp_path).close()
    for reader in (within, before):
        first = 50 if step < 3 else 60
        holds(reader, first, packed_blocks(first, 69))


# -- starting again


def test_a_reset_drops_every_block_and_file(tmp_path: Path) -> None:
    write_rolling(tmp_path, 50, packed_blocks(50, 69))
    log = RollingBlockLog.open(tmp_path)
    for name in (DATA, INDEX):
        for suffix in (".bak", ".tmp"):
            shutil.copy(tmp_path / name, tmp_path / f"{name}{suffix}")

    log.reset()

    assert files_of(tmp_path) == {DATA: b"\0", INDEX: b"\0"}
    holds(log, 1, [])
    log.append(7, packed_block(7))
    holds(log, 7, [packed_block(7)])


@pytest.mark.parametrize(
    ("first", "last", "head", "consistent"),
    [
        (1, 0, 0, True),
        (1, 0, 5000, True),
        (50, 69, 0, True),
        (50, 69, 69, True),
        (50, 69, 68, False),
        (50, 69, 1_000_000, True),
        (1, 1, 1, True),
        (1, 1, 2, False),
        (50, 50, 50, False),
        (50, 58, 1058, True),
        (50, 58, 1059, False),
        (50, 59, 1060, True),
    ],
)
def test_a_log_is_consistent_with_the_heads_that_the_reference_says(
    tmp_path: Path, first: int, last: int, head: int, consistent: bool
) -> None:
    write_rolling(tmp_path, first, packed_blocks(first, last))

    assert RollingBlockLog.open(tmp_path).is_consistent_with(head) == consistent
