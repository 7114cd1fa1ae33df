"""What a recording transaction has written is what it says that it has."""

from __future__ import annotations

from pathlib import Path

import lmdb

from ledgerd.state.files.recording import RecordingTransaction


def test_of_a_key_the_last_write_is_recorded_and_other_databases_are_left_out(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path), max_dbs=2) as environment:
        recorded, other = environment.open_db(b"recorded"), environment.open_db(b"other")
        transaction = RecordingTransaction(environment.begin(write=True), {recorded: 7})
        for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", b"3")):
            assert transaction.put(key, value, db=recorded)
        assert transaction.delete(b"b", db=recorded)
        transaction.put(b"c", b"4", db=other)
        assert transaction.delete(b"c", db=other)
        assert dict(transaction.changes) == {7: {b"a": b"3", b"b": None}}
        assert (transaction.get(b"a", db=recorded), transaction.get(b"b", db=recorded)) == (b"3", None)
        transaction.commit()
