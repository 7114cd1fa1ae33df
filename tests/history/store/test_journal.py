"""The journal of accounts against a model that remembers all of them at every block; and what has rotted in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.ledger.events import BlockApplied, Sample
from ledgerd.codec import codec_of
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.journal import AccountJournal
from ledgerd.history.store.tables import Tables
from ledgerd.projections.accounts.images import GONE, IMAGES, AccountImage, ImageKind, packed_names
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import LmdbTransaction
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from tests.recorded import recorded_blocks

NAMES = tuple(map(AccountName, ("a", "al", "ali", "alice", "b.c", "null")))
FIRST = 5

Known = dict[tuple[ImageKind, AccountName], bytes]
Story = list[tuple[str, object]]

images = st.builds(AccountImage, st.sampled_from(ImageKind), st.sampled_from(NAMES), st.binary(min_size=0, max_size=9))
changes = st.lists(images, max_size=4, unique_by=lambda each: each[:2])
stories: st.SearchStrategy[Story] = st.lists(
    st.one_of(
        st.tuples(st.just("block"), changes),
        st.tuples(st.just("undo"), st.integers(0, 6)),
        st.tuples(st.just("purge"), st.integers(0, 6)),
    ),
    max_size=30,
)


@contextmanager
def opened(folder: Path) -> Iterator[tuple[AccountJournal, LmdbTransaction, Tables]]:
    with (
        lmdb.Environment(str(folder), map_size=1 << 24, max_dbs=16) as environment,
        environment.begin(write=True) as made,
    ):
        tables = Tables.open(environment, made, create=True)
        journal = AccountJournal(made, tables.header, tables.images, tables.changed)
        assert journal is not None
        yield journal, made, tables


def told(number: int, changed: list[AccountImage] | None) -> BlockApplied:
    block = codec_of(Block).decode(recorded_blocks("open-2")[number - 1])
    samples = () if changed is None else (Sample(IMAGES, 0, tuple(changed)),)
    return BlockApplied(block, (), 0, 0, 0, samples=samples)


@given(changes, stories)
def test_the_image_of_every_block_is_found_through_undoing_and_purging(begun: list[AccountImage], story: Story) -> None:
    with TemporaryDirectory() as folder, opened(Path(folder)) as (journal, _, _):
        journal.begin(FIRST, begun)
        known: dict[int, Known] = {FIRST: {each[:2]: each.row for each in begun}}
        for kind, what in story:
            head, first = max(known), min(known)
            if kind == "block":
                assert isinstance(what, list)
                journal.record(told(head + 1, what))
                known[head + 1] = {**known[head], **{each[:2]: each.row for each in what}}
            elif kind == "undo":
                assert isinstance(what, int)
                number = max(first, head - what)
                journal.truncate(number)
                known = {each: images for each, images in known.items() if each <= number}
            else:
                assert isinstance(what, int)
                number = min(head, first + what)
                journal.purge(number)
                known = {each: images for each, images in known.items() if each >= number}
            assert journal.begins == min(known)
            journal.require_sound()
        for number, expected in known.items():
            for name in NAMES:
                for part in ImageKind:
                    assert journal._image(part, name, number) == expected.get((part, name))  # noqa: SLF001 - one search


def test_an_account_that_is_gone_is_none_and_one_that_lacks_a_part_is_damage(tmp_path: Path) -> None:
    name = NAMES[3]
    row = ACCOUNTS.codec.encode(Account(name=name, balance=7))
    parts = [
        AccountImage(ImageKind.ACCOUNT, name, row),
        AccountImage(ImageKind.AUTHORITY, name, b"authority"),
        AccountImage(ImageKind.METADATA, name, b"metadata"),
    ]
    with opened(tmp_path) as (journal, _, _):
        journal.begin(FIRST, parts)
        journal.record(told(FIRST + 1, [AccountImage(ImageKind.VOTES, name, packed_names(NAMES[:2]))]))
        journal.record(told(FIRST + 2, [AccountImage(ImageKind.ACCOUNT, name, GONE)]))
        journal.record(told(FIRST + 3, [AccountImage(ImageKind.ACCOUNT, NAMES[0], row)]))
        assert journal.account_at(name, FIRST) == (row, b"authority", b"metadata", ())
        assert journal.account_at(name, FIRST + 1) == (row, b"authority", b"metadata", NAMES[:2])
        assert journal.amounts_at(name, FIRST + 1) == (7, 0, 0, 0, 0, 0, 0, 0)
        assert journal.account_at(name, FIRST + 2) is None
        assert journal.amounts_at(name, FIRST + 2) is None
        assert journal.account_at(NAMES[1], FIRST + 3) is None
        with pytest.raises(HistoryDamaged, match="lacks parts of a"):
            journal.account_at(NAMES[0], FIRST + 3)
        assert journal.images_of(FIRST + 2) == [AccountImage(ImageKind.ACCOUNT, name, GONE)]
        assert journal.images_of(FIRST + 9) == []


def test_a_block_of_which_nobody_told_ends_it(tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, _, _):
        journal.record(told(4, [AccountImage(ImageKind.VOTES, NAMES[0], b"v")]))
        assert journal.begins is None
        assert journal.images_of(4) == [], "nothing is kept of which it is not known where it begins"
        journal.begin(FIRST, [])
        journal.record(told(FIRST + 1, []))
        assert journal.begins == FIRST
        journal.record(told(FIRST + 2, None))
        assert journal.begins is None
        journal.begin(FIRST + 3, [])
        journal.truncate(FIRST + 2)
        assert journal.begins is None


@pytest.mark.parametrize("table", ["images", "changed", "header"])
def test_a_changed_byte_is_found_and_never_another_answer(table: str, tmp_path: Path) -> None:
    with opened(tmp_path) as (journal, transaction, tables):
        journal.begin(FIRST, [AccountImage(ImageKind.VOTES, NAMES[0], b"before")])
        journal.record(told(FIRST + 1, [AccountImage(ImageKind.VOTES, NAMES[0], b"after")]))
        database = getattr(tables, table)
        for key, raw in list(transaction.cursor(database)):
            for place in range(len(raw)):
                transaction.put(key, raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1 :], db=database)
                with pytest.raises(HistoryDamaged):
                    journal.require_sound()
            transaction.put(key, raw, db=database)
        journal.require_sound()
        key = next(iter(transaction.cursor(tables.images)))[0]
        transaction.delete(key[:-1] + bytes([FIRST + 1]), db=tables.images)
        with pytest.raises(HistoryDamaged, match="is missing in the journal"):
            journal.require_sound()
