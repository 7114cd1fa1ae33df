"""What an imported state says of where it came from."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.ledger.provenance import TOLD_BLOCKS, Provenance, note_provenance, provenance_of
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES


def test_it_is_kept_with_the_state(tmp_path: Path) -> None:
    told = Provenance(77, 2, "ab", 3, -5, 1, 2, is_audited=True)
    with Store.open(tmp_path, STORED_TABLES) as store:
        assert provenance_of(store) is None
        note_provenance(store, told)
        store.commit()
    with Store.open(tmp_path, STORED_TABLES) as store:
        assert provenance_of(store) == told


def test_one_source_alone_is_told_for_a_day_of_blocks() -> None:
    alone = Provenance(1_000, 1)
    assert "from one trusted peer alone" in next(alone.told(1_000))
    assert list(alone.told(1_000 + TOLD_BLOCKS))
    assert list(alone.told(1_001 + TOLD_BLOCKS)) == []
    assert list(Provenance(1_000, 2).told(1_000)) == []
    assert list(Provenance(1_000, 0).told(1_000)) == []


def test_surpluses_are_told_with_their_sums() -> None:
    votes, routes = Provenance(9, 2, "", 3, -500, 2, 4).told(9)
    assert "differ from what their voters give, by -500 together (validators: 3)" in votes
    assert "differ from those there are, by 4 together (accounts: 2)" in routes
