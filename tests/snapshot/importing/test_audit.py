"""The checks of an imported state: what they find in a file whose sums are right, and what is kept of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.ledger.provenance import provenance_of
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing import audit
from ledgerd.snapshot.importing.audit import audit_copy, require_sound
from ledgerd.snapshot.importing.beside import checking_request, processes_beside
from ledgerd.snapshot.importing.build import build_state
from ledgerd.snapshot.settings import Terms
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, ACCOUNTS
from ledgerd.state.tables.tables import Table
from ledgerd.state.verify import is_sound
from ledgerd.state.views.reader import CommitView
from tests.chain.networks import SMALL
from tests.sim.poison import Poison, poisoned
from tests.snapshot.recorded import market_document, packed, small_state

State = dict[str, Any]
ONE_VIZ = 1_000


def built(folder: Path, file: bytes, terms: Terms = Terms()) -> Path:  # noqa: B008 - immutable
    state = folder / "state"
    state.mkdir()
    build_state(state, Snapshot.from_bytes(file), TESTNET, SMALL, terms)
    return state


def _votes(state: State) -> None:
    state["account"][3]["validators_voted_for"] += 1


def _delegation(state: State) -> None:
    state["account"][3]["delegated_vesting_shares"] = "1.000000 SHARES"


def _proxied(state: State) -> None:
    votes = state["account"][3]["proxied_vsf_votes"]
    state["account"][3]["proxied_vsf_votes"] = "07" + votes[2:]


@pytest.mark.parametrize(
    ("forge", "told"), [(_votes, "votes for"), (_delegation, "delegates"), (_proxied, "is proxied")]
)
def test_what_sums_do_not_show_is_found_by_the_checks(
    tmp_path: Path, forge: Callable[[State], None], told: str
) -> None:
    state = small_state()
    forge(state)
    with pytest.raises(SnapshotError, match=f"is not sound, with 1 problems: .*{told}"):
        built(tmp_path, packed(state))
    assert not (tmp_path / "state").exists()


def test_one_viz_that_nobody_issued_is_refused_with_its_sum_and_the_option(tmp_path: Path) -> None:
    file = poisoned(packed(small_state()), Poison.MINTED)
    with pytest.raises(SnapshotError, match=r"are 1000 more .* set snapshot-pm-legacy-residual = 1000"):
        built(tmp_path, file)


def test_the_option_allows_for_no_other_sum(tmp_path: Path) -> None:
    """One that names what is minted takes the file; that is the operator's word."""
    file = poisoned(packed(small_state()), Poison.MINTED)
    state = built(tmp_path, file, Terms(residual=ONE_VIZ))
    assert audit_copy(state, tmp_path / "copy", TESTNET) == 120


def test_tokens_that_appear_after_the_import_are_found(tmp_path: Path) -> None:
    state = built(tmp_path, packed(small_state()))
    with Store.open(state, STORED_TABLES, space=SMALL) as store:
        with store.editing(found := store.at(ACCOUNT_BY_NAME, "alice")):
            found.balance += ONE_VIZ
        store.commit()
    with pytest.raises(SnapshotError, match="the supply is"):
        audit_copy(state, tmp_path / "copy", TESTNET)
    assert not (tmp_path / "copy").exists()


def test_a_head_block_that_its_validator_has_not_signed_is_refused(tmp_path: Path) -> None:
    document = market_document("open-pm", 2027)
    file = packed(document["state"])
    with pytest.raises(SnapshotError, match="is not signed with the key of viz: it is forged"):
        built(tmp_path, poisoned(file, Poison.HEAD))


def test_a_head_block_of_another_validator_is_refused(tmp_path: Path) -> None:
    document = market_document("open-pm", 2027)
    document["state"]["dynamic_global_property"][0]["current_validator"] = "alice"
    with pytest.raises(SnapshotError, match=r"is of viz and .*, and its state of alice"):
        built(tmp_path, packed(document["state"]))


def test_a_large_state_is_left_to_a_later_check_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "RECORDS_AT_ONCE", 10)
    state = built(tmp_path, packed(small_state()), Terms(audits_later=True, sources=2, checksum="ab"))
    with Store.open(state, STORED_TABLES, space=SMALL) as store:
        provenance = provenance_of(store)
    assert provenance is not None
    assert (provenance.number, provenance.sources, provenance.checksum) == (120, 2, "ab")
    assert not provenance.is_audited


def test_a_state_that_was_checked_says_so(tmp_path: Path) -> None:
    state = built(tmp_path, packed(small_state()), Terms(audits_later=True))
    with Store.open(state, STORED_TABLES, space=SMALL) as store:
        provenance = provenance_of(store)
    assert provenance is not None
    assert provenance.is_audited
    assert provenance.validators == 1
    assert provenance.votes != 0


def test_another_process_that_looks_at_tables_changes_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "FEWEST_ENTRIES", 1)
    state = built(tmp_path, packed(small_state()))
    with Store.open(state, STORED_TABLES) as store, processes_beside(TESTNET, 1) as beside:
        require_sound(store, TESTNET, beside=beside)
        index, database = store._indexes[ACCOUNT_BY_NAME], store._databases[ACCOUNT_BY_NAME.title]  # noqa: SLF001
        entry, _ = next(index.entries())
        store._disk.transaction.delete(entry, db=database)  # noqa: SLF001 - what no caller can do
        store.commit()
        for each in (None, beside):
            with pytest.raises(SnapshotError, match=r"with 2 problems: Account.by_name: the entry of . is missing"):
                require_sound(store, TESTNET, beside=each)


def test_what_a_process_that_is_killed_was_to_look_at_is_looked_at_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "FEWEST_ENTRIES", 1)
    state = built(tmp_path, packed(small_state()))
    with Store.open(state, STORED_TABLES) as store, processes_beside(TESTNET, 1) as beside:
        (pid,) = beside.pids
        os.kill(pid, signal.SIGKILL)
        require_sound(store, TESTNET, beside=beside)
        assert beside.pids == []


@pytest.mark.parametrize("begun", [0, 1, 100])
def test_each_table_is_looked_at_here_or_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: int
) -> None:
    here, beside_us = list[str](), set[str]()

    def noted(view: CommitView, table: Table[Any]) -> bool:
        here.append(table.title)
        return is_sound(view, table)

    def noted_beside(folder: Path, table: Table[Any]) -> bytes:
        beside_us.add(table.title)
        return checking_request(folder, table)

    monkeypatch.setattr(audit, "is_sound", noted)
    monkeypatch.setattr(audit, "checking_request", noted_beside)
    monkeypatch.setattr(audit, "FEWEST_ENTRIES", 10)
    monkeypatch.setattr(audit, "TABLES_BEGUN", begun)
    state = built(tmp_path, packed(small_state()), Terms(audits_later=True))
    here.clear()
    with Store.open(state, STORED_TABLES) as store, processes_beside(TESTNET, 1) as beside:
        require_sound(store, TESTNET, beside=beside)

    assert len(here) == len(set(here))
    assert {table.title for table in STORED_TABLES} == {*here, *beside_us}
    assert ACCOUNTS.title in beside_us
    assert ACCOUNTS.title not in here
