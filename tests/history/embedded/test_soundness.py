"""A flipped bit in a history, or in the blocks that it refers to, is an error and never another answer; `faults` finds
it. A history of another version is refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import lmdb
import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import Wanted
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.pieces import PIECE_KEY
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import MAX_DATABASES
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, closed_view, followed, open_store, written

NAME, HEIGHT = "open-hf0", 200
REMEDY = "ledgerd history rebuild"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history") / "base"
    with open_chain(NAME, folder) as chain, followed(chain, folder):
        advance(chain, NAME, HEIGHT)
    return folder


@pytest.fixture
def folder(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base, tmp_path / "copy"))


def faults_of(folder: Path) -> list[str]:
    with (
        open_chain(NAME, folder) as chain,
        EmbeddedHistory.open(folder / HISTORY_FOLDER, folder / STATE_FOLDER, HistorySettings()) as history,
    ):
        return list(history.faults(chain.packed_at))


def change(folder: Path, table: str, change: Callable[[bytes], bytes], number: int) -> None:
    """Change one of the values of a table."""
    with (
        lmdb.Environment(str(folder / HISTORY_FOLDER), max_dbs=MAX_DATABASES) as environment,
        environment.begin(write=True) as transaction,
    ):
        database = environment.open_db(table.encode(), transaction)
        key, value = [*transaction.cursor(database)][number]
        transaction.put(key, change(value), db=database)


def flipped(raw: bytes, at: int, bit: int) -> bytes:
    changed = bytearray(raw)
    changed[at % len(raw)] ^= 1 << bit
    return bytes(changed)


def texts_of(folder: Path, last: int = HEIGHT) -> dict[int, list[str] | None]:
    """What clients are shown of each block; nothing where they are told of damage."""
    found: dict[int, list[str] | None] = {}
    with closed_view(folder) as view:
        for number in range(1, last + 1):
            try:
                found[number] = view.operations_of(number)
            except HistoryDamaged:
                found[number] = None
    return found


def entries_of(folder: Path, account: str) -> list[str]:
    with closed_view(folder) as view:
        entries = view.range_of(AccountName(account))
        assert entries is not None
        return view.entries_of(AccountName(account), *entries)


def accounts_of(folder: Path) -> list[str]:
    with (
        lmdb.Environment(str(folder / HISTORY_FOLDER), max_dbs=MAX_DATABASES, readonly=True) as environment,
        environment.begin() as transaction,
    ):
        database = environment.open_db(b"ranges", transaction, create=False)
        return [key[:-1].decode() for key, _ in transaction.cursor(database)]


def test_a_sound_history_has_no_faults(folder: Path) -> None:
    assert faults_of(folder) == []


def test_a_flipped_bit_of_a_piece_is_never_another_answer(folder: Path) -> None:
    sound, random = texts_of(folder), Random(9)  # noqa: S311 - the same in every run
    for _ in range(60):
        number, at, bit = random.randrange(150), random.randrange(1 << 16), random.randrange(8)
        flip = partial(flipped, at=at, bit=bit)
        change(folder, "operations", flip, number)
        found = texts_of(folder)
        differing = [block for block, texts in found.items() if texts != sound[block]]
        assert len(differing) == 1
        assert found[differing[0]] is None
        change(folder, "operations", flip, number)
    change(folder, "operations", lambda raw: flipped(raw, 3, 1), 20)
    assert any(REMEDY in fault for fault in faults_of(folder))


@pytest.mark.parametrize("number", [0, 70, -1])
def test_operations_that_are_missing_are_never_an_empty_answer(folder: Path, number: int) -> None:
    sound = texts_of(folder)
    with written(folder) as (transaction, tables):
        key = [*transaction.cursor(tables.operations).iternext(values=False)][number]
        transaction.delete(key, db=tables.operations)
        for table in (tables.ranges, tables.chunks):  # no entry refers to what is missing
            transaction.drop(table, delete=False)
    (block, _), found = PIECE_KEY.unpack(key), texts_of(folder)
    assert found == {**sound, block: None}
    assert any(f"operations of block {block} are missing" in fault for fault in faults_of(folder))
    with closed_view(folder) as view:
        for first, last in ((1, HEIGHT), (HEIGHT, 1), (block, block), (block - 1, block + 1), (block + 1, block - 1)):
            with pytest.raises(HistoryDamaged, match=rf"operations of block {block} are missing.*{REMEDY}"):
                view.find_operations(first, last, Wanted(), 1_000_000)


def test_a_piece_in_another_place_is_not_an_answer(folder: Path) -> None:
    with written(folder) as (transaction, tables):
        (one, own), (other, foreign) = [*transaction.cursor(tables.operations)][70:72]
        transaction.put(one, foreign, db=tables.operations)
        transaction.put(other, own, db=tables.operations)
    found = texts_of(folder)
    assert found[PIECE_KEY.unpack(one)[0]] is None
    assert found[PIECE_KEY.unpack(other)[0]] is None


def test_a_flipped_bit_of_an_accounts_entries_is_an_error(folder: Path) -> None:
    for number, account in list(enumerate(accounts_of(folder)))[:5]:
        change(folder, "chunks", lambda raw: flipped(raw, 5, 3), number)
        with pytest.raises(HistoryDamaged, match=rf"entries of {account} from 0 on.*{REMEDY}"):
            entries_of(folder, account)
        assert any(f"entries of {account} " in fault for fault in faults_of(folder))
        change(folder, "chunks", lambda raw: flipped(raw, 5, 3), number)
    assert faults_of(folder) == []


def test_a_flipped_bit_of_the_block_log_is_never_another_answer(folder: Path) -> None:
    """Operations are read from the log in parts: the whole block is not there to be checked."""
    sound, random = texts_of(folder), Random(5)  # noqa: S311 - the same in every run
    path = folder / STATE_FOLDER / "block_log"
    raw = path.read_bytes()
    hits = 0
    for _ in range(60):
        path.write_bytes(flipped(raw, random.randrange(len(raw)), random.randrange(8)))
        found = texts_of(folder)
        differing = [block for block, texts in found.items() if texts != sound[block]]
        assert all(found[block] is None for block in differing)
        hits += len(differing)
    assert hits > 5


def test_a_transaction_that_is_not_found_by_its_id_is_a_fault(folder: Path) -> None:
    with (
        lmdb.Environment(str(folder / HISTORY_FOLDER), max_dbs=MAX_DATABASES) as environment,
        environment.begin(write=True) as transaction,
    ):
        database = environment.open_db(b"transactions", transaction, dupsort=True, dupfixed=True)
        cursor = transaction.cursor(database)
        cursor.first()
        cursor.delete()
    (fault,) = faults_of(folder)
    assert "is not found by its id" in fault


# -- histories of other versions


def test_a_history_of_another_version_is_refused_with_what_to_do(folder: Path) -> None:
    with written(folder) as (transaction, tables):
        transaction.put(b"format", b"ledgerd history 4", db=tables.header)
    with pytest.raises(HistoryDamaged, match=rf"written by another version.*{REMEDY}"):
        entries_of(folder, "alice")
    with (
        open_chain(NAME, folder) as chain,
        pytest.raises(HistoryDamaged, match=rf"written by another version.*{REMEDY}"),
    ):
        open_store(chain, folder)


def test_a_history_without_a_table_is_one_of_another_version(folder: Path) -> None:
    with written(folder) as (transaction, tables):
        transaction.drop(tables.missed)
    with pytest.raises(HistoryDamaged, match=rf"written by another version.*{REMEDY}"):
        texts_of(folder)
