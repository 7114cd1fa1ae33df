"""What an imported state says of where it came from."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.ledger.provenance import WARNED_BLOCKS, Provenance, provenance_of, record_provenance
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES


def test_it_is_kept_with_the_state(tmp_path: Path) -> None:
    told = Provenance(77, 2, "ab", 3, -5, 1, 2, is_audited=True)
    with Store.open(tmp_path, STORED_TABLES) as store:
        assert provenance_of(store) is None
        record_provenance(store, told)
        store.commit()
    with Store.open(tmp_path, STORED_TABLES) as store:
        assert provenance_of(store) == told


def test_one_source_alone_is_told_for_a_day_of_blocks() -> None:
    alone = Provenance(1_000, 1)
    assert "from one trusted peer alone" in next(alone.warnings(1_000))
    assert list(alone.warnings(1_000 + WARNED_BLOCKS))
    assert list(alone.warnings(1_001 + WARNED_BLOCKS)) == []
    assert list(Provenance(1_000, 2).warnings(1_000)) == []
    assert list(Provenance(1_000, 0).warnings(1_000)) == []


def test_surpluses_are_told_with_their_sums() -> None:
    votes, routes = Provenance(9, 2, "", 3, -500, 2, 4).warnings(9)
    assert "differ from what their voters give, by -500 together (validators: 3)" in votes
    assert "differ from those there are, by 4 together (accounts: 2)" in routes
