"""A flipped bit in a history, or in the blocks that it refers to, is an error and never another answer; `faults` finds
it. A history of an earlier version has fewer checksums, and is gone on with.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import lmdb
import pytest

from ledgerd.chain.chain import STATE_FOLDER, Chain
from ledgerd.chain.log.histories import Wanted
from ledgerd.history.embedded import EmbeddedStore
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.pieces import PIECE_KEY
from ledgerd.history.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.history.tables import read_watermarks
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import MAX_DATABASES
from tests.chain.recorded_chains import advance, open_chain
from tests.history.former_histories import (
    RECORDED_IRREVERSIBLE,
    RECORDED_PLANS,
    make_format_2,
    make_format_3,
    restore_recorded,
    written,
)
from tests.history.histories import HISTORY_FOLDER, closed_view, followed
from tests.history.model import assert_same
from tests.history.test_against_model import Teller

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


# -- histories of earlier versions

MAKERS = (make_format_2, make_format_3, partial(make_format_3, sums_from=HEIGHT // 2))


@pytest.fixture(params=MAKERS, ids=("format 2", "format 3", "format 3 on format 2"))
def former(folder: Path, request: pytest.FixtureRequest) -> Path:
    request.param(folder)
    return folder


def test_a_history_of_an_earlier_version_is_read_and_gone_on_with(former: Path, tmp_path: Path) -> None:
    uninterrupted = tmp_path / "uninterrupted"
    with open_chain(NAME, uninterrupted) as chain, followed(chain, uninterrupted):
        advance(chain, NAME, HEIGHT + 60)
    sound = texts_of(uninterrupted, HEIGHT + 60)
    assert texts_of(former) == {number: texts for number, texts in sound.items() if number <= HEIGHT}
    assert faults_of(former) == []
    with open_chain(NAME, former) as chain, followed(chain, former):
        advance(chain, NAME, HEIGHT + 60)

    assert texts_of(former, HEIGHT + 60) == sound
    for account in accounts_of(uninterrupted):
        assert entries_of(former, account) == entries_of(uninterrupted, account)
    assert faults_of(former) == []


def test_only_what_is_recorded_from_then_on_is_of_the_present_format(former: Path) -> None:
    with open_chain(NAME, former) as chain, followed(chain, former):
        advance(chain, NAME, HEIGHT + 20)
    with written(former) as (transaction, tables):
        watermarks = read_watermarks(transaction, tables)
    assert watermarks is not None
    assert watermarks.linked_from == HEIGHT + 1
    change(former, "operations", lambda raw: flipped(raw, 3, 1), -1)
    assert texts_of(former, HEIGHT + 20)[HEIGHT + 20] is None


def test_blocks_that_are_undone_below_the_present_format_come_back_in_it(former: Path) -> None:
    with open_chain(NAME, former) as chain, open_history(chain, former) as store:
        store.truncate(HEIGHT - 5)
    with open_chain(NAME, former) as chain, followed(chain, former):
        advance(chain, NAME, HEIGHT + 1)
    with written(former) as (transaction, tables):
        watermarks = read_watermarks(transaction, tables)
    assert watermarks is not None
    assert watermarks.linked_from == HEIGHT - 4
    assert faults_of(former) == []


def test_a_flipped_bit_is_found_in_pieces_with_checksums_of_each_operation(folder: Path) -> None:
    sound, random = texts_of(folder), Random(3)  # noqa: S311 - the same in every run
    make_format_3(folder)
    path = folder / STATE_FOLDER / "block_log"
    raw = path.read_bytes()
    for _ in range(40):
        number, at, bit = random.randrange(150), random.randrange(1 << 16), random.randrange(8)
        flip = partial(flipped, at=at, bit=bit)
        change(folder, "operations", flip, number)
        path.write_bytes(flipped(raw, random.randrange(len(raw)), random.randrange(8)))
        found = texts_of(folder)
        assert None in found.values()
        assert all(texts is None or texts == sound[block] for block, texts in found.items())
        change(folder, "operations", flip, number)


@pytest.mark.parametrize("number", [2, 3])
def test_a_recorded_history_of_an_earlier_version_is_that_of_today(number: int, tmp_path: Path) -> None:
    """Written by the versions that had these formats."""
    with Teller(tmp_path, HistorySettings()) as teller:
        for plan in RECORDED_PLANS:
            teller.block(plan)
        teller.advance(len(RECORDED_PLANS) - RECORDED_IRREVERSIBLE)
    shutil.rmtree(tmp_path / HISTORY_FOLDER)
    restore_recorded(tmp_path, number)
    with closed_view(tmp_path) as view:
        assert_same(view, teller.model, len(RECORDED_PLANS))
    with Teller(tmp_path, HistorySettings()) as again:
        again.trunk, again.model, again.irreversible = teller.trunk, teller.model, teller.irreversible
        for plan in RECORDED_PLANS:
            again.block(plan)
        again.undo(3)
        again.advance(1)
        again.check()


def open_history(chain: Chain, folder: Path) -> EmbeddedStore:
    return EmbeddedStore(folder / HISTORY_FOLDER, HistorySettings(), chain.block_log)
