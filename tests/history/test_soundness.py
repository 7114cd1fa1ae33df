"""A flipped bit in a history, or in the blocks that it refers to, is an error and never another answer; `faults` finds
it. A history of an earlier version has no checksums, and is gone on with.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import lmdb
import pytest

from ledgerd.chain.chain import STATE_FOLDER, Chain
from ledgerd.history.embedded import EmbeddedStore
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import MAX_DATABASES
from tests.chain.recorded_chains import advance, open_chain
from tests.history.histories import HISTORY_FOLDER, closed_view, followed

NAME, HEIGHT = "open-hf0", 200
REMEDY = "ledgerd history rebuild"

ROW, FORMER_ROW = struct.Struct("<BBHIHH"), struct.Struct("<BBHIH")
HEAD, TRANSACTION = 10, 22


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


# -- histories of earlier versions


def without_sums(raw: bytes) -> bytes:
    """A piece as an earlier version wrote it."""
    count, transactions = raw[0], raw[1]
    rows = HEAD + transactions * TRANSACTION
    tail = rows + count * ROW.size
    former = b"".join(FORMER_ROW.pack(*row[:5]) for row in ROW.iter_unpack(raw[rows:tail]))
    return raw[:rows] + former + raw[tail:-4]


def make_former(folder: Path) -> None:
    """Take the checksums out of a history."""
    with (
        lmdb.Environment(str(folder / HISTORY_FOLDER), max_dbs=MAX_DATABASES) as environment,
        environment.begin(write=True) as transaction,
    ):
        for table, former in (("operations", without_sums), ("chunks", lambda raw: raw[:-4])):
            database = environment.open_db(table.encode(), transaction)
            for key, raw in [*transaction.cursor(database)]:
                transaction.put(key, former(raw), db=database)
        header = environment.open_db(b"header", transaction)
        transaction.put(b"format", b"ledgerd history 2", db=header)
        transaction.delete(b"sums", db=header)


def test_a_history_of_an_earlier_version_is_read_and_gone_on_with(folder: Path, tmp_path: Path) -> None:
    uninterrupted = tmp_path / "uninterrupted"
    with open_chain(NAME, uninterrupted) as chain, followed(chain, uninterrupted):
        advance(chain, NAME, HEIGHT + 60)
    make_former(folder)
    with open_chain(NAME, folder) as chain, followed(chain, folder):
        advance(chain, NAME, HEIGHT + 60)

    assert texts_of(folder, HEIGHT + 60) == texts_of(uninterrupted, HEIGHT + 60)
    for account in accounts_of(uninterrupted):
        assert entries_of(folder, account) == entries_of(uninterrupted, account)
    assert faults_of(folder) == []


def test_only_what_is_recorded_from_then_on_has_checksums(folder: Path) -> None:
    make_former(folder)
    with open_chain(NAME, folder) as chain, followed(chain, folder) as store:
        advance(chain, NAME, HEIGHT + 20)
        assert store._watermarks.sums_from == HEIGHT + 1  # noqa: SLF001 - what a reader goes by
    change(folder, "operations", lambda raw: flipped(raw, 3, 1), -1)
    assert texts_of(folder, HEIGHT + 20)[HEIGHT + 20] is None


def test_blocks_that_are_undone_below_the_first_checksum_come_back_with_theirs(folder: Path) -> None:
    make_former(folder)
    with open_chain(NAME, folder) as chain, open_history(chain, folder) as store:
        store.truncate(HEIGHT - 5)
        assert store._watermarks.sums_from == HEIGHT - 4  # noqa: SLF001
    with open_chain(NAME, folder) as chain, followed(chain, folder):
        advance(chain, NAME, HEIGHT + 1)
    assert faults_of(folder) == []


def open_history(chain: Chain, folder: Path) -> EmbeddedStore:
    return EmbeddedStore(folder / HISTORY_FOLDER, HistorySettings(), chain.block_log)
