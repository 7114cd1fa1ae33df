"""What a noted transaction has written is what it says that it has."""

from __future__ import annotations

from pathlib import Path

import lmdb

from ledgerd.state.files.noted import NotedTransaction


def test_of_a_key_the_last_write_is_noted_and_others_databases_are_left_out(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path), max_dbs=2) as environment:
        noted, other = environment.open_db(b"noted"), environment.open_db(b"other")
        transaction = NotedTransaction(environment.begin(write=True), {noted: 7})
        for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", b"3")):
            assert transaction.put(key, value, db=noted)
        assert transaction.delete(b"b", db=noted)
        transaction.put(b"c", b"4", db=other)
        assert transaction.delete(b"c", db=other)
        assert dict(transaction.notes) == {7: {b"a": b"3", b"b": None}}
        assert (transaction.get(b"a", db=noted), transaction.get(b"b", db=noted)) == (b"3", None)
        transaction.commit()
