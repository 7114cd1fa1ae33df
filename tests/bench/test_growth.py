"""States of many accounts for the bench: made in steps, and read as any other."""

from __future__ import annotations

from pathlib import Path

from bench.bench_growth import make, member, some
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.rpc.api.shared.account_record import account_text
from ledgerd.state import StateReader
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNTS


def test_accounts_are_made_from_where_it_stopped_on(tmp_path: Path) -> None:
    make(tmp_path, 150)
    make(tmp_path, 200)

    with StateReader.open(tmp_path / STATE_FOLDER, STORED_TABLES) as reader, reader.snapshot() as view:
        assert view.count(ACCOUNTS) == 200
        texts = [account_text(view, member(number)) for number in range(150, 200)]
    assert None not in texts
    assert len(set(texts)) == 50


def test_what_is_read_first_was_not_read_before() -> None:
    names = some(1_000, 1)
    assert len(names) == len(set(names)) == 500
    assert names != some(1_000, 2)
